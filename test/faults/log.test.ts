import t from 'tap';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import { startSmtp } from '../support/smtp.ts';

t.test(
  '[observability] JSON lines with request ids, and no token, password, code or message in any of them',
  async (t) => {
    const dataDir = tempFolder(t);
    // Every kind of answer, so that failures and successes are logged.
    const smtp = await startSmtp(t, {
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      decide: () =>
        [{ code: 451, text: 'later' }, { code: 550, text: 'never' }, 'accept' as const][smtp.seen.length % 3] ??
        'accept',
    });
    const service = await ServiceProcess.serving(t, {
      DATA_DIR: dataDir,
      LOG_LEVEL: 'debug',
      RATE_LIMITS: 'off',
      MAIL_PROVIDER: 'smtp',
      SMTP_URL: smtp.url.replace('//', '//switchboard:open%20sesame@'),
    });
    const api = new Api(service.url);
    const secrets: string[] = [password, 'open sesame', 'open%20sesame'];
    const say = (text: string): string => (secrets.push(text), text);

    const owner = await api.workspace('shop');
    secrets.push(owner.token);
    const chat = await api.chat(owner.embedId, say('A customer says swordfish.'));
    secrets.push(chat.customerToken);
    await api.post(
      `/conversations/${chat.conversationId}/messages`,
      { body: say('An agent answers marmalade.') },
      owner.token,
    );
    await api.post(`/conversations/${chat.conversationId}/notes`, { body: say('A note on marzipan.') }, owner.token);
    await api.post(
      `/conversations/${chat.conversationId}/messages`,
      { body: '', attachments: say('Not valid, and pistachio.') },
      owner.token,
    );
    await api.post('/auth/login', { email: 'owner@shop.example', password: say('wrong-password-rhubarb') });
    await api.post('/auth/login', { email: 'owner@shop.example', password });
    await api.post('/auth/forgot-password', { email: 'owner@shop.example' });
    for (const name of ['ann', 'bob', 'cat'])
      await api.post('/agents/invite', { email: `${name}@example.com`, name, role: 'agent' }, owner.token);
    await api.post('/auth/join', { code: say('no-such-code-tamarind'), password });
    await api.post('/auth/reset-password', { token: say('no-such-token-cardamom'), newPassword: password });
    await api.get('/me', say('not.a.token-saffron'));
    const socket = await api.agentSocket(owner.token);
    await socket.call('message.send', { conversationId: chat.conversationId, body: say('Over a socket: quince.') });
    await socket.call('message.send', { conversationId: 'nonsense', body: say('Over a socket, in vain: medlar.') });
    await socket.close();
    const traced = await fetch(`${service.url}/api/v1/me`, {
      headers: { Accept: 'application/json', Authorization: `Bearer ${owner.token}`, 'X-Request-Id': 'trace-me-1' },
    });
    t.equal(traced.headers.get('x-request-id'), 'trace-me-1');
    await smtp.sees(4);
    for (const { raw } of smtp.seen)
      secrets.push(/(?:\/join\/|token=3D|token=)([\w-]{20,})/.exec(raw.replace(/=\r\n/g, ''))?.[1] ?? 'none');
    await service.kill('SIGTERM');

    const lines = service.stdout.split('\n').filter((line) => line.startsWith('{'));
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    t.ok(records.length > 20, `${records.length} lines`);
    t.ok(
      records.every(
        ({ time, level, msg }) =>
          /^\d{4}-.*Z$/.test(String(time)) && typeof level === 'number' && typeof msg === 'string',
      ),
    );
    const requests = records.filter(({ msg }) => msg === 'request');
    t.ok(
      requests.every(
        ({ requestId, operation, status, durationMs }) =>
          typeof requestId === 'string' &&
          typeof operation === 'string' &&
          typeof status === 'number' &&
          typeof durationMs === 'number',
      ),
    );
    t.ok(
      ['auth.register', 'message.send', 'note.create', 'auth.login', 'agent.invite', 'widget.startChat'].every(
        (operation) => requests.some((one) => one['operation'] === operation),
      ),
    );
    t.match(
      requests.find(({ requestId }) => requestId === 'trace-me-1'),
      { operation: 'me.read', status: 200 },
    );
    t.ok(
      records.some(({ msg }) => msg === 'outside work failed'),
      'failures are included',
    );
    t.ok(secrets.length >= 18);
    for (const secret of secrets)
      t.notOk(service.stdout.includes(secret) || service.stderr.includes(secret), secret.slice(0, 40));
  },
);
