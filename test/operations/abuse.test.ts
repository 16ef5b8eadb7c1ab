// A short round of `npm run abuse`: a moment of each attack, those of a kind on one service, several in a row while the
// others act. It measures no times; it checks that every attack attacks something, and that the service survives, stays
// small, and refuses nothing to others.

import t from 'tap';
import { type Reach, reachProblem } from '../abuse/attack.ts';
import { importAttacks } from '../abuse/attacks-imports.ts';
import { mailAttacks } from '../abuse/attacks-mail.ts';
import { requestAttacks } from '../abuse/attacks-requests.ts';
import { socketAttacks } from '../abuse/attacks-sockets.ts';
import { workspaceAttacks } from '../abuse/attacks-workspace.ts';
import { judge, maxResidentMb } from '../abuse/judgement.ts';
import { Range } from '../abuse/range.ts';
import { tempFolder } from '../support/folder.ts';

// One process after another, with time to spare on a busy machine.
t.setTimeout(900_000);

/** An attack that is not answered by then goes on. */
const seconds = 0.2;
const attacksInARow = 6;
const customers = 8;
const skip = process.platform === 'linux' ? false : 'only Linux has all of 127.0.0.0/8, and lists what a process holds';

for (const [kind, attacks] of Object.entries({
  requests: requestAttacks,
  'sockets and mails': [...socketAttacks, ...mailAttacks],
  // A service that suffered all of them has started every thread, which one attack does not.
  'a hostile workspace': workspaceAttacks.slice(0, 8),
  'a hostile workspace, continued': workspaceAttacks.slice(8, 16),
  'a hostile workspace, to its end': workspaceAttacks.slice(16),
  'a hostile workspace that imports': importAttacks,
})) {
  t.test(
    `[abuse] a moment of each attack by ${kind} costs others nothing, and the process with a heap of 256 MB stays below 400 MB`,
    { skip },
    async (t) => {
      const range = await Range.open(t, { dataDir: tempFolder(t), customers });
      await range.prepare(attacks);
      for (let from = 0; from < attacks.length; from += attacksInARow) {
        const some = attacks.slice(from, from + attacksInARow);
        const outcome = await range.drive(some, { idleSeconds: 0, seconds });
        t.same(judge(outcome), [], some.map(({ name }) => name).join(', '));
        t.ok(outcome.attacked.count > 0, 'others acted meanwhile');
        if (outcome.end !== undefined) return;
        t.equal(outcome.shots.length, some.length);
      }
    },
  );
}

t.test('[abuse] a service that is slower, refused, stopped or too large is detected', async (t) => {
  const calm = { count: 100, p50Ms: 2, p99Ms: 10, signInMs: 300, failures: new Map<string, number>() };
  const held = { idle: calm, attacked: calm, shots: [], peakMb: 200, diskMb: 1, end: undefined };
  t.same(judge(held), []);
  t.same(judge({ ...held, attacked: { ...calm, p99Ms: 99 } }), [], 'no effect');
  t.same(judge({ ...held, attacked: { ...calm, p99Ms: 101 } }), ['p99 101 ms, allowed 100']);
  t.same(judge({ ...held, idle: { ...calm, p99Ms: 50 }, attacked: { ...calm, p99Ms: 149 } }), []);
  t.same(judge({ ...held, attacked: { ...calm, failures: new Map([['send 503', 2]]) } }), ['2 × send 503']);
  t.same(judge({ ...held, peakMb: maxResidentMb }), ['400 MB resident']);
  t.same(judge({ ...held, end: 'ended with 134' }), ['the service ended with 134']);
});

t.test('[abuse] an attack that attacks nothing is detected', async (t) => {
  const problem = (answers: readonly (readonly [number, number])[], reaches?: Reach, opened = 16) =>
    reachProblem(reaches === undefined ? {} : { reaches }, { answers: new Map(answers), opened });
  t.equal(
    problem([
      [200, 1],
      [429, 500],
    ]),
    undefined,
    'a limit was reached',
  );
  t.equal(
    problem([
      [201, 20],
      [0, 20],
    ]),
    undefined,
  );
  t.equal(
    problem([
      [201, 20],
      [0, 21],
    ]),
    'attacked little: 20 answers, 21 closed connections',
  );
  t.equal(
    reachProblem(
      { isClosed: true },
      {
        answers: new Map([
          [200, 1],
          [0, 90],
        ]),
        opened: 91,
      },
    ),
    undefined,
  );
  t.equal(problem([[0, 34]]), 'attacked nothing: of 0 answers none was 200 or 201 or 202 or 204', 'closed unanswered');
  t.equal(
    problem(
      [
        [400, 60],
        [429, 9],
      ],
      [401],
    ),
    'attacked nothing: of 69 answers none was 401',
    'never as expected',
  );
  t.equal(problem([[401, 1]], [401]), undefined);
  t.equal(problem([], { connections: 100 }, 99), 'attacked nothing: 99 connections were opened');
  t.equal(problem([], { connections: 100 }, 100), undefined);
  const calm = { count: 100, p50Ms: 2, p99Ms: 10, signInMs: 300, failures: new Map<string, number>() };
  const shot = { attack: { name: 'searches' }, answers: new Map([[0, 34]]), opened: 34 };
  const outcome = { idle: calm, attacked: calm, shots: [shot], peakMb: 200, diskMb: 1, end: undefined };
  t.match(judge(outcome), [/^searches attacked nothing/]);
});
