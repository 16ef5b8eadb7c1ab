// A short round of `npm run abuse`: a moment of each attack, those of a kind on one service. It measures no times; it
// checks that the service survives, stays small, and refuses nothing to others.

import t from 'tap';
import { mailAttacks } from '../abuse/attacks-mail.ts';
import { requestAttacks } from '../abuse/attacks-requests.ts';
import { socketAttacks } from '../abuse/attacks-sockets.ts';
import { workspaceAttacks } from '../abuse/attacks-workspace.ts';
import { judge, maxResidentMb } from '../abuse/judgement.ts';
import { Range } from '../abuse/range.ts';
import { tempFolder } from '../support/folder.ts';

// One process after another, with time to spare on a busy machine.
t.setTimeout(300_000);

const seconds = 0.5;
const skip = process.platform === 'linux' ? false : 'only Linux has all of 127.0.0.0/8, and lists what a process holds';

for (const [kind, attacks] of Object.entries({
  requests: requestAttacks,
  sockets: socketAttacks,
  'a hostile workspace': workspaceAttacks,
  mails: mailAttacks,
})) {
  t.test(
    `[abuse] a moment of each attack by ${kind} costs others nothing, and the process with a heap of 256 MB stays below 400 MB`,
    { skip },
    async (t) => {
      const range = await Range.open(t, tempFolder(t));
      for (const { name } of attacks) {
        const outcome = await range.drive(name, { idleSeconds: 0, seconds });
        t.same(judge(outcome), [], name);
        t.ok(outcome.attacked.count > 0 && outcome.answers.size > 0, `${name} took place`);
        if (outcome.end !== undefined) return;
      }
    },
  );
}

t.test('[abuse] a service that is slower, refused, stopped or too large is detected', async (t) => {
  const calm = { count: 100, p50Ms: 2, p99Ms: 10, signInMs: 300, failures: new Map<string, number>() };
  const held = { idle: calm, attacked: calm, answers: new Map([[429, 1000]]), peakMb: 200, diskMb: 1, end: undefined };
  t.same(judge(held), []);
  t.same(judge({ ...held, attacked: { ...calm, p99Ms: 99 } }), [], 'no effect');
  t.same(judge({ ...held, attacked: { ...calm, p99Ms: 101 } }), ['p99 101 ms, allowed 100']);
  t.same(judge({ ...held, idle: { ...calm, p99Ms: 50 }, attacked: { ...calm, p99Ms: 149 } }), []);
  t.same(judge({ ...held, attacked: { ...calm, failures: new Map([['send 503', 2]]) } }), ['2 × send 503']);
  t.same(judge({ ...held, peakMb: maxResidentMb }), ['400 MB resident']);
  t.same(judge({ ...held, end: 'ended with 134' }), ['the service ended with 134']);
});
