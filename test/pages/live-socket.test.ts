// The agent's connection with a clock and sockets of the test's own: how it gives up, pauses and resumes.

import t from 'tap';
import { type Connection, LiveSocket, type Socket } from '../../http/pages/live-socket.ts';
import type { LiveEvent } from '../../http/pages/records.ts';

class FakeSocket implements Socket {
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  readyState = 0;
  readonly sent: string[] = [];
  isClosed = false;
  readonly since: number | undefined;

  constructor(since: number | undefined) {
    this.since = since;
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.isClosed = true;
  }
  opens(): void {
    this.readyState = 1;
    this.onopen?.(new Event('open'));
  }
  says(frame: Partial<LiveEvent>): void {
    this.onmessage?.(new MessageEvent('message', { data: JSON.stringify({ data: {}, ...frame }) }));
  }
  closes(code = 1006): void {
    this.onclose?.(Object.assign(new Event('close'), { code }) as CloseEvent);
  }
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

function scene(random = 1) {
  const sockets: FakeSocket[] = [];
  const states: Connection[] = [];
  const events: string[] = [];
  const timers = new Set<Timer>();
  let nowMs = 0;
  let resyncs = 0;
  let signOuts = 0;
  const live = new LiveSocket(
    {
      changed: (now) => void states.push(now),
      ready: () => undefined,
      received: ({ type }) => void events.push(type),
      resynced: () => void (resyncs += 1),
      signedOut: () => void (signOuts += 1),
    },
    {
      after: (ms, run) => {
        const timer = { dueMs: nowMs + ms, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      random: () => random,
    },
  );
  const newest = (): FakeSocket => {
    const last = sockets.at(-1);
    if (last === undefined) throw new Error('no socket was opened');
    return last;
  };
  return {
    live,
    sockets,
    states,
    events,
    timers,
    newest,
    counts: () => ({ resyncs, signOuts }),
    start: () =>
      live.start((since) => {
        const made = new FakeSocket(since);
        sockets.push(made);
        return made;
      }),
    /** Moves the clock, and runs what is due on the way. */
    pass: (ms: number): void => {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs);
        if (next === undefined) break;
        nowMs = next.dueMs;
        timers.delete(next);
        next.run();
      }
      nowMs = endMs;
    },
    becomeLive: (seq = 1): void => {
      newest().opens();
      newest().says({ type: 'ready', seq });
    },
  };
}

t.test('an attempt that hangs is given up after 2 s and made again after a pause', async (t) => {
  const { sockets, states, start, pass, newest, becomeLive } = scene();
  start();
  pass(1999);
  t.strictSame([sockets.length, states.at(-1)], [1, 'connecting']);
  pass(1);
  t.ok(sockets[0]?.isClosed);
  t.equal(states.at(-1), 'waiting');
  pass(499);
  t.equal(sockets.length, 1);
  pass(1);
  t.strictSame([sockets.length, states.at(-1)], [2, 'connecting']);
  sockets[0]?.opens();
  sockets[0]?.says({ type: 'ready', seq: 9 });
  sockets[0]?.closes();
  t.equal(states.at(-1), 'connecting', 'an abandoned attempt changes nothing');
  becomeLive();
  t.equal(states.at(-1), 'live');
  t.equal(newest().isClosed, false);
});

t.test('each failed attempt doubles the pause and the next time limit, up to a bound', async (t) => {
  const { sockets, start, pass } = scene();
  const limits = [2000, 4000, 8000, 16_000, 16_000, 16_000, 16_000];
  const pauses = [500, 1000, 2000, 4000, 8000, 15_000, 15_000];
  start();
  for (const [index, limitMs] of limits.entries()) {
    pass(limitMs - 1);
    t.notOk(sockets[index]?.isClosed, `attempt ${index + 1} has ${limitMs} ms`);
    pass(1);
    t.ok(sockets[index]?.isClosed);
    const pauseMs = pauses[index] ?? 0;
    pass(pauseMs - 1);
    t.equal(sockets.length, index + 1, `a pause of ${pauseMs} ms`);
    pass(1);
    t.equal(sockets.length, index + 2);
  }
});

t.test('the pause is between half of it and all of it, by chance', async (t) => {
  for (const [random, pauseMs] of [
    [0, 250],
    [0.5, 375],
  ] as const) {
    const { sockets, start, pass, newest } = scene(random);
    start();
    newest().closes();
    pass(pauseMs - 1);
    t.equal(sockets.length, 1);
    pass(1);
    t.equal(sockets.length, 2);
  }
});

t.test(
  'a connection that was live starts again from the shortest pause, and resumes after the last event',
  async (t) => {
    const { sockets, events, start, pass, newest, becomeLive } = scene();
    start();
    t.equal(newest().since, undefined);
    newest().closes();
    pass(500);
    newest().closes();
    pass(1000);
    becomeLive(5);
    newest().says({ type: 'one', seq: 6 });
    newest().says({ type: 'again', seq: 6 });
    newest().says({ type: 'typing' });
    t.strictSame(events, ['one', 'typing'], 'an event is delivered once; one without a number always');
    newest().closes();
    pass(500);
    t.strictSame([sockets.length, newest().since], [4, 6]);
  },
);

t.test('a silent connection is probed, and given up without a response', async (t) => {
  const { states, start, pass, newest, becomeLive } = scene();
  start();
  becomeLive();
  pass(24_999);
  t.strictSame(newest().sent, []);
  pass(1);
  t.strictSame(newest().sent, ['{"type":"ping"}']);
  newest().says({ type: 'pong' });
  pass(25_000);
  t.equal(newest().sent.length, 2);
  pass(4999);
  t.equal(states.at(-1), 'live');
  pass(1);
  t.equal(states.at(-1), 'waiting');
});

t.test('a connection that opens and says nothing is given up after 9 s', async (t) => {
  const { states, start, pass, newest } = scene();
  start();
  pass(1500);
  newest().opens();
  pass(8999);
  t.equal(states.at(-1), 'connecting');
  pass(1);
  t.equal(states.at(-1), 'waiting');
});

t.test('the network is back: a live connection is probed at once, and a pause ends', async (t) => {
  const { live, sockets, states, start, pass, newest, becomeLive } = scene();
  start();
  live.checkNow();
  t.equal(sockets.length, 1, 'an attempt under way goes on');
  becomeLive();
  live.checkNow();
  t.equal(newest().sent.length, 1);
  pass(5000);
  t.equal(states.at(-1), 'waiting');
  live.checkNow();
  t.strictSame([sockets.length, states.at(-1)], [2, 'connecting']);
});

t.test(
  'missed events that are gone: everything is read again, and the next connection resumes from there',
  async (t) => {
    const { counts, start, pass, newest, becomeLive } = scene();
    start();
    becomeLive(3);
    newest().says({ type: 'resync', seq: 40 });
    t.equal(counts().resyncs, 1);
    newest().closes();
    pass(500);
    t.equal(newest().since, 40);
  },
);

t.test('a session that ended is not tried again', async (t) => {
  const { counts, sockets, states, timers, start, newest, becomeLive } = scene();
  start();
  becomeLive();
  newest().closes(4401);
  t.strictSame([counts().signOuts, states.at(-1), timers.size, sockets.length], [1, 'off', 0, 1]);
});

t.test('stopped, it closes and leaves no timer; started again, it knows of no event', async (t) => {
  const { live, events, states, timers, start, newest, becomeLive } = scene();
  start();
  becomeLive(7);
  const former = newest();
  live.stop();
  t.ok(former.isClosed);
  t.strictSame([states.at(-1), timers.size], ['off', 0]);
  former.says({ type: 'late', seq: 8 });
  live.send({ type: 'typing' });
  live.reconnectNow();
  t.strictSame([events, former.sent, states.at(-1)], [[], [], 'off']);
  start();
  t.equal(newest().since, undefined);
});
