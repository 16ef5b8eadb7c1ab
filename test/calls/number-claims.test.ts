import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '../../engine/runtime/log.ts';
import { startService } from '../support/service.ts';
import { FakeTwilio, problems } from '../support/twilio.ts';

const e164 = '+14155550101';

t.test('[4.18] a purchase with an unknown outcome that cannot be released either', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const twilio = await FakeTwilio.start(t);
  let failures = 0;
  const log = {
    ...silentLog,
    error: (_: object, message: string) => void (failures += message.includes('a later sweep does it') ? 1 : 0),
  };
  const first = await startService(t, { dataDir, env: twilio.env(), log });
  const owner = await first.workspace();
  const claim = (service = first) =>
    service.post('/phone-numbers', { e164, displayName: 'Support', routingStrategy: 'all_agents' }, owner.token);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  const asked = (): string[] => twilio.take().map(({ method }) => method);
  const isDown = (): void => twilio.once('GET', problems.broken);

  t.test('keeps the number from everyone for a while', async (t) => {
    twilio.once('POST', problems.broken);
    isDown();
    t.match(await claim(), { status: 503, body: { error: 'service_unavailable' } });
    t.match(
      await claim(),
      { status: 409, body: { error: 'number_taken' } },
      'the purchase may have succeeded: no one may buy it again',
    );
    t.same(asked(), ['POST', 'GET']);
    t.equal(failures, 1);
  });

  t.test('is retried automatically, with growing delays', async (t) => {
    isDown();
    first.clock.advance(30_000);
    await until(() => failures === 2);
    t.same(asked(), ['GET']);
    await first.pass(59_999);
    t.same(asked(), [], 'not yet');
    isDown();
    first.clock.advance(1);
    await until(() => failures === 3);
    t.same(asked(), ['GET']);
    t.equal((await claim()).status, 409);
  });

  t.test('and by a new process, also if the carrier is still down at its start', async (t) => {
    await first.stop();
    isDown();
    const second = await startService(t, { dataDir, env: twilio.env(), log, clock: first.clock });
    await until(() => failures === 4);
    second.clock.advance(30_000);
    await until(() => twilio.asked.length === 3);
    t.same(asked(), ['GET', 'GET', 'DELETE'], 'given back');
    while ((await claim(second)).status === 409);
    t.match((await second.get('/phone-numbers', owner.token)).body, { numbers: [{ e164 }] }, 'and free for anyone');
  });
});
