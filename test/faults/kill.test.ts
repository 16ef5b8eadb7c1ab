import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { Api, password } from '../support/api.ts';
import { compareEvents, compareMessages } from '../support/comparison.ts';
import { tempFolder } from '../support/folder.ts';
import { Load } from '../support/load.ts';
import { ServiceProcess } from '../support/process.ts';
import { startSmtp } from '../support/smtp.ts';

t.test(
  'kill -9 under load over HTTP and sockets: every acknowledged message is stored once, in order; seq has no gap; handshakes and mails continue',
  async (t) => {
    const dataDir = tempFolder(t);
    // The second mail is received and never acknowledged, until the process is gone.
    const smtp = await startSmtp(t, {
      disabledCommands: ['STARTTLS'],
      decide: () => (smtp.seen.length === 2 ? 'hang' : 'accept'),
    });
    const env = {
      DATA_DIR: dataDir,
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      MAIL_PROVIDER: 'smtp',
      SMTP_URL: smtp.url,
    };
    const first = await ServiceProcess.serving(t, env);
    const api = new Api(first.url);
    const owner = await api.workspace('shop');

    await api.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token);
    await smtp.sees(1);
    const code = /\/join\/([\w-]+)/.exec(smtp.seen[0]?.raw.replace(/=\r\n/g, '') ?? '')?.[1];
    const ann = (await api.post('/auth/join', { code, password })).body;
    await api.post('/agents/invite', { email: 'bob@example.com', name: 'Bob', role: 'agent' }, owner.token);
    await smtp.sees(2);
    await api.post('/me/status', { status: 'away' }, ann.token);
    const { conversationId } = await api.chat(owner.embedId, 'Please hand me over.');
    const offered = await api.post(
      `/conversations/${conversationId}/assign-to-agent`,
      { agentId: ann.agent.id, expectedVersion: 1 },
      owner.token,
    );
    t.not(offered.body.conversation.handshake, null);

    const load = new Load(api, owner);
    await load.open({ places: 4 });
    await load.start();
    await load.reaches(500);
    t.same(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
    await load.ended();
    t.same(load.otherAnswers, [], 'until then everything was taken');

    const second = await ServiceProcess.serving(t, env);
    api.url = second.url;
    await compareMessages(t, { api, owner, load, exactly: false });
    await compareEvents(t, { api, owner, load });

    const accepted = await api.post(
      `/conversations/${conversationId}/assignment/accept`,
      { expectedVersion: offered.body.conversation.version },
      ann.token,
    );
    t.match(
      accepted,
      { status: 200, body: { conversation: { assignedAgentId: ann.agent.id, handshake: null } } },
      'the offer still stood',
    );
    await smtp.sees(3);
    t.equal(
      smtp.seen[2]?.messageId,
      smtp.seen[1]?.messageId,
      'the mail that was cut off is sent again, as the same mail',
    );
    t.same(
      smtp.accepted.flatMap(({ to }) => to),
      ['ann@example.com', 'bob@example.com'],
    );

    const more = new Load(api, owner);
    await more.open({ places: 2 });
    await more.start();
    await more.reaches(100);
    more.stop();
    await more.ended();
    t.same(more.otherAnswers, []);
    await compareMessages(t, { api, owner, load: more, exactly: true });
    await second.kill('SIGTERM');
    const db = Database.openReader(join(dataDir, 'workspaces', `${owner.workspaceId}.db`));
    t.same(db.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    t.same(db.all(`SELECT count(*) AS waiting FROM outbox WHERE state = 'queued'`), [{ waiting: 0 }]);
    db.close();
  },
);
