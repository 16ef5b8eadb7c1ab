// The script that rings a workspace from the terminal, run as a person would.

import { execFile, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { timelineOf } from '../support/calls.ts';
import { password, startService } from '../support/service.ts';

const script = resolve(import.meta.dirname, '../../bench/simulate-call.ts');

t.test('npm run simulate:call', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace({ available: true });
  const simulate = (...args: string[]) =>
    promisify(execFile)(process.execPath, [
      script,
      '--url',
      service.url,
      '--email',
      owner.email,
      '--password',
      password,
      ...args,
    ]);
  const newest = async () => (await service.get('/calls', owner.token)).body.calls[0];

  t.test("claims a number, rings it, answers it, prints the agents' events", async (t) => {
    const { stdout } = await simulate('--answer', '--pace', '0');
    t.match(stdout, /^claimed \+1415\d{7} for it$/m);
    for (const type of [
      'call.ringing  ringing, rings 1',
      'call.answered  answered',
      'call.on_hold  on_hold',
      'call.resumed  answered',
      'call.ended  ended',
    ])
      t.match(stdout, type);
    t.match(stdout, 'The call is solved. Its timeline:');
    t.same(timelineOf(await newest()), ['ringing', 'answered', 'on_hold', 'resumed', 'ended']);
  });

  t.test('hangs up, and leaves a voicemail if no one answers', async (t) => {
    service.clock.advance(1000);
    const { stdout } = await simulate('--hang-up-after', '0');
    t.notMatch(stdout, 'claimed', 'it rings the present number');
    t.match(stdout, 'The call is open. Its timeline:');
    t.same(timelineOf(await newest()), ['ringing', 'ended']);

    service.clock.advance(1000);
    const child = spawn(
      process.execPath,
      [script, '--url', service.url, '--token', owner.token, '--say', 'Is this thing on?'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = new Promise((done) => child.once('exit', done));
    let printed = '';
    for await (const data of child.stdout) {
      printed += String(data);
      if (printed.includes('call.ringing  ringing') && !printed.includes('voicemail')) await service.pass(30_000);
    }
    t.equal(await ended, 0);
    t.match(printed, 'visitor: Is this thing on?');
    t.same(timelineOf(await newest()), ['ringing', 'voicemail_left', 'ended']);
  });

  t.test('reports errors', async (t) => {
    await t.rejects(simulate('--to', '+12125559999'), { code: 1, stderr: /not taken: 401/ });
    await t.rejects(promisify(execFile)(process.execPath, [script]), { code: 1, stdout: /--email, --password/ });
    await t.rejects(
      promisify(execFile)(process.execPath, [
        script,
        '--url',
        service.url,
        '--email',
        owner.email,
        '--password',
        'wrong one, surely',
      ]),
      { code: 1, stderr: /401/ },
    );
  });
});
