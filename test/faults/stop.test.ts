import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { Api } from '../support/api.ts';
import { compareEvents, compareMessages } from '../support/comparison.ts';
import { tempFolder } from '../support/folder.ts';
import { Load } from '../support/load.ts';
import { ServiceProcess } from '../support/process.ts';
import { startSmtp } from '../support/smtp.ts';

/** A request with half of its body sent. */
function halfSent(
  port: number,
  path: string,
  options: { token: string; body: string },
): { socket: Socket; finish(): Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  const half = Math.floor(options.body.length / 2);
  let got = '';
  socket.on('data', (chunk) => (got += chunk.toString()));
  socket.on('error', () => {
    // The test observes what did not arrive.
  });
  socket.write(
    `POST /api/v1${path} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Type: application/json\r\nAuthorization: Bearer ${options.token}\r\nContent-Length: ${options.body.length}\r\n\r\n${options.body.slice(0, half)}`,
  );
  return {
    socket,
    finish: () =>
      new Promise((resolve) => {
        socket.on('close', () => resolve(got));
        socket.write(options.body.slice(half));
      }),
  };
}

/** Resolves when the service accepts no more connections. */
async function refusing(url: string): Promise<void> {
  for (let isOpen = true; isOpen; )
    isOpen = await fetch(`${url}/healthz`, { headers: { Connection: 'close' } }).then(
      () => true,
      () => false,
    );
}

t.test(
  'SIGTERM under load: requests in flight are answered, sockets get 1012, exit 0 in time, and the restart finds exactly what was acknowledged',
  async (t) => {
    const dataDir = tempFolder(t);
    const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
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
    const { conversationId } = await api.chat(owner.embedId, 'Hello?');
    const load = new Load(api, owner);
    await load.open({ places: 4 });
    await load.start();
    await load.reaches(300);
    const slow = Array.from({ length: 5 }, (_, index) =>
      halfSent(first.port, `/conversations/${conversationId}/messages`, {
        token: owner.token,
        body: JSON.stringify({ body: `slow ${index}` }),
      }),
    );
    await load.reaches(load.acknowledged + 100);

    const startedAt = performance.now();
    const ending = first.kill('SIGTERM');
    await refusing(first.url);
    const answers = await Promise.all(slow.map((one) => one.finish()));
    t.ok(
      answers.every((answer) => answer.startsWith('HTTP/1.1 201')),
      'a request that was on its way is answered',
    );
    await load.ended();
    t.ok((await load.closings()).every((code) => code === 1012));
    t.same(await ending, { code: 0, signal: null });
    t.ok(performance.now() - startedAt < 10_000);
    t.same(
      load.otherAnswers.filter((status) => status !== 503),
      [],
    );
    t.notOk(existsSync(join(dataDir, 'workspaces', `${owner.workspaceId}.db-wal`)), 'its log is copied back');
    t.notOk(existsSync(join(dataDir, 'directory.db-wal')));
    t.equal(first.stderr, '');

    const second = await ServiceProcess.serving(t, env);
    api.url = second.url;
    await compareMessages(t, { api, owner, load, exactly: true });
    await compareEvents(t, { api, owner, load });
    t.same(
      (await api.messages(conversationId, owner.token))
        .filter(({ senderType }) => senderType === 'agent')
        .map(({ body }) => body)
        .sort(),
      slow.map((_, index) => `slow ${index}`),
    );
  },
);

t.test('a mail being sent at the stop is finished and recorded, not sent twice', async (t) => {
  const dataDir = tempFolder(t);
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'], decide: () => 'hang' });
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'error', MAIL_PROVIDER: 'smtp', SMTP_URL: smtp.url };
  const first = await ServiceProcess.serving(t, env);
  const api = new Api(first.url);
  const owner = await api.workspace('shop');
  await api.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token);
  await smtp.sees(1);
  const ending = first.kill('SIGTERM');
  await refusing(first.url);
  smtp.acceptHeld();
  t.same(await ending, { code: 0, signal: null });
  const db = Database.openReader(join(dataDir, 'workspaces', `${owner.workspaceId}.db`));
  t.match(db.all('SELECT state, attempts FROM outbox'), [{ state: 'sent', attempts: 1 }]);
  db.close();
});

t.test('a log whose reader is gone does not keep the process from its end', async (t) => {
  const service = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t) });
  service.loseReader();
  t.same(await service.kill('SIGTERM'), { code: 0, signal: null });
});

t.test('SIGINT stops like SIGTERM, also without clients', async (t) => {
  const service = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t) });
  t.same(await service.kill('SIGINT'), { code: 0, signal: null });
});
