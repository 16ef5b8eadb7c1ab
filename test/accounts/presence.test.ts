import t from 'tap';
import { claimLine, ringLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Person, password, type Service, startService } from '../support/service.ts';
import type { TestSocket } from '../support/socket.ts';

const minuteMs = 60_000;

function watch(service: Service, owner: Person) {
  const agent = async (person: Person) => (await service.get(`/agents/${person.agentId}`, owner.token)).body;
  const standing = async (person: Person) => {
    const { status, statusSource, isOnline } = await agent(person);
    return [status, statusSource, isOnline];
  };
  const choose = (person: Person, status: string) => service.post('/me/status', { status }, person.token);
  const assignee = async (id: string) =>
    (await service.get(`/conversations/${id}`, owner.token)).body.conversation.assignedAgentId;
  /** A socket, opened and known to the server. */
  const come = async (person: Person): Promise<TestSocket> => {
    const socket = await service.agentSocket(person.token);
    await service.settled();
    return socket;
  };
  /** The server learns of a closed socket a moment after its client. */
  const gone = async (person: Person): Promise<void> => {
    while ((await agent(person)).isOnline === true) await new Promise((resolve) => setImmediate(resolve));
  };
  const leave = async (person: Person, socket: TestSocket): Promise<void> => {
    await socket.close();
    await gone(person);
  };
  return { standing, choose, assignee, come, gone, leave };
}

t.test('presence of agents', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const start = async () => {
    const owner = await service.workspace();
    const ann = await service.agent(owner, { name: 'Ann' });
    const bob = await service.agent(owner, { name: 'Bob' });
    return { owner, ann, bob, ...watch(service, owner) };
  };

  t.test(
    '[decisions, presence] isOnline is whether a socket is open; a change of it alone is a frame without a number, to the others',
    async (t) => {
      const { owner, ann, come, leave, standing } = await start();
      const watching = await come(owner);
      t.equal(watching.frames.find(({ type }) => type === 'ready')?.['agent'].isOnline, true);
      t.same(await standing(ann), ['away', 'chosen', false]);
      const first = await come(ann);
      t.match(await watching.next('agent.presence'), {
        seq: undefined,
        data: { agentId: ann.agentId, isOnline: true },
      });
      t.same(await standing(ann), ['away', 'chosen', true], 'the chosen status stays');
      const second = await come(ann);
      await first.close();
      await second.flushed();
      t.same(await standing(ann), ['away', 'chosen', true], 'another socket is open');
      await leave(ann, second);
      t.match(await watching.next('agent.presence'), { data: { agentId: ann.agentId, isOnline: false } });
      t.same(await standing(ann), ['away', 'chosen', false]);
      await watching.flushed();
      t.equal(
        watching.frames.filter(({ type }) => type === 'agent.presence').length,
        2,
        'each change once, nothing of oneself',
      );
      t.same(watching.events, [], 'and no event');
      t.notOk(
        second.frames.some(({ type }) => type === 'agent.presence'),
        'no agent receives its own',
      );
      await watching.close();
    },
  );

  t.test(
    '[decisions, presence] the last socket gone for awayAfterMinutes: away, automatic; the next socket makes available again',
    async (t) => {
      const { owner, ann, choose, come, leave, standing } = await start();
      await choose(ann, 'available');
      const socket = await come(ann);
      await service.pass(60 * minuteMs);
      t.same(await standing(ann), ['available', 'chosen', true], 'an agent with a socket is online');
      await leave(ann, socket);
      const watching = await come(owner);
      await service.pass(5 * minuteMs - 1);
      t.same(await standing(ann), ['available', 'chosen', false], 'a millisecond before');
      await service.pass(1);
      t.same(await standing(ann), ['away', 'automatic', false]);
      t.match((await watching.next('agent.updated')).data.agent, {
        id: ann.agentId,
        status: 'away',
        statusSource: 'automatic',
        isOnline: false,
      });
      const again = await come(ann);
      t.same(await standing(ann), ['available', 'automatic', true]);
      t.match((await watching.next('agent.updated')).data.agent, {
        id: ann.agentId,
        status: 'available',
        statusSource: 'automatic',
        isOnline: true,
      });
      await again.close();
      await watching.close();
    },
  );

  t.test('[decisions, presence] an agent who returns in time stays available', async (t) => {
    const { ann, choose, come, leave, standing } = await start();
    await choose(ann, 'available');
    await leave(ann, await come(ann));
    await service.pass(4 * minuteMs);
    const socket = await come(ann);
    await service.pass(10 * minuteMs);
    t.same(await standing(ann), ['available', 'chosen', true]);
    await leave(ann, socket);
  });

  t.test('[decisions, presence] a status chosen meanwhile is kept', async (t) => {
    const { ann, choose, come, leave, standing } = await start();
    await choose(ann, 'available');
    for (const status of ['away', 'offline']) {
      await leave(ann, await come(ann));
      await service.pass(5 * minuteMs);
      await choose(ann, status);
      t.same(await standing(ann), [status, 'chosen', false]);
      const socket = await come(ann);
      t.same(await standing(ann), [status, 'chosen', true], 'a mere socket changes nothing');
      await leave(ann, socket);
      await choose(ann, 'available');
    }
  });

  t.test('[decisions, presence] an agent without a socket since its last choice keeps its status', async (t) => {
    const { ann, choose, come, leave, standing } = await start();
    await choose(ann, 'available');
    await service.pass(24 * 60 * minuteMs);
    t.same(await standing(ann), ['available', 'chosen', false], 'never one at all');
    await leave(ann, await come(ann));
    await service.pass(minuteMs);
    await choose(ann, 'available');
    await service.pass(24 * 60 * minuteMs);
    t.same(await standing(ann), ['available', 'chosen', false], 'chosen after its last socket ended');
  });

  t.test(
    '[decisions, presence] awayAfterMinutes takes fractions, 0 is off, and a change applies to agents already gone',
    async (t) => {
      const { owner, ann, choose, come, leave, standing } = await start();
      const after = (awayAfterMinutes: number) =>
        service.patch(`/workspaces/${owner.workspaceId}`, { awayAfterMinutes }, owner.token);
      await choose(ann, 'available');
      await after(0);
      await leave(ann, await come(ann));
      await service.pass(60 * minuteMs);
      t.same(await standing(ann), ['available', 'chosen', false], 'off');
      await after(61);
      await service.pass(minuteMs - 1);
      t.same(await standing(ann), ['available', 'chosen', false], 'on again, counted from when she went');
      await service.pass(1);
      t.same(await standing(ann), ['away', 'automatic', false]);
      await leave(ann, await come(ann));
      await after(0.5);
      await service.pass(30_000);
      t.same(await standing(ann), ['away', 'automatic', false], 'shorter: at once, or when the rest is over');
      await leave(ann, await come(ann));
      await after(0);
      await service.pass(60 * minuteMs);
      t.same(await standing(ann), ['available', 'automatic', false], 'switched off while she is gone');
    },
  );

  t.test(
    '[decisions, presence] logout makes offline, the next sign-in available; a mere socket does not',
    async (t) => {
      const { owner, ann, choose, come, gone, standing } = await start();
      for (const chosen of ['available', 'away']) {
        await choose(ann, chosen);
        const socket = await come(ann);
        t.equal((await service.post('/auth/logout', undefined, ann.token)).status, 204);
        t.equal((await socket.closed).code, 4401);
        await gone(ann);
        t.same(await standing(ann), ['offline', 'automatic', false], chosen);
        const signedIn = await service.post('/auth/login', { email: ann.email, password });
        t.equal(signedIn.status, 200);
        t.same(await standing(ann), ['available', 'automatic', false]);
        Object.assign(ann, { token: signedIn.body.token });
      }
      await service.patch(`/workspaces/${owner.workspaceId}`, { awayAfterMinutes: 6 }, owner.token);
      await service.pass(60 * minuteMs);
      t.same(await standing(ann), ['available', 'automatic', false], 'no socket since it signed in');
      await choose(ann, 'offline');
      const { token } = (await service.post('/auth/login', { email: ann.email, password })).body;
      t.same(
        await standing(ann),
        ['offline', 'chosen', false],
        'an agent offline by choice stays so when it signs in elsewhere',
      );
      await service.post('/auth/logout', undefined, token);
      await service.post('/auth/forgot-password', { email: ann.email });
      const reset = /token=(\S+)/.exec((await service.mail(ann.email)).text)?.[1];
      t.equal(
        (await service.post('/auth/reset-password', { token: reset, newPassword: 'another one that is long' })).status,
        200,
      );
      t.same(await standing(ann), ['available', 'automatic', false], 'a reset signs in as well');
    },
  );

  t.test('[decisions, presence] unanswered chats routed to it return to routing, however it leaves', async (t) => {
    const ways: [string, (scene: Awaited<ReturnType<typeof start>>) => Promise<unknown>, RegExp][] = [
      [
        'its last socket ended',
        async ({ ann, come, leave }) => {
          await leave(ann, await come(ann));
          await service.pass(5 * minuteMs);
        },
        /^Ann is away; this is back in the queue\.$/,
      ],
      ['it chose away', ({ ann, choose }) => choose(ann, 'away'), /^Ann is away; this is back in the queue\.$/],
      [
        'it chose offline',
        ({ ann, choose }) => choose(ann, 'offline'),
        /^Ann is offline; this is back in the queue\.$/,
      ],
      [
        'it signed out',
        ({ ann }) => service.post('/auth/logout', undefined, ann.token),
        /^Ann is offline; this is back in the queue\.$/,
      ],
    ];
    for (const [what, go, line] of ways) {
      const scene = await start();
      const { owner, ann, bob, choose, assignee } = scene;
      await choose(ann, 'available');
      const [routed, answered, pending, byHand, taken] = [
        await service.chat(owner),
        await service.chat(owner),
        await service.chat(owner),
        await service.chat(owner),
        await service.chat(owner),
      ];
      t.equal(await assignee(routed.id), ann.agentId);
      await service.post(`/conversations/${answered.id}/messages`, { body: 'Hello!' }, ann.token);
      await service.post(`/conversations/${pending.id}/status`, { status: 'pending' }, ann.token);
      for (const { id } of [byHand, taken]) await service.post(`/conversations/${id}/unassign`, undefined, ann.token);
      await service.post(
        `/conversations/${byHand.id}/assign-to-agent`,
        {
          agentId: ann.agentId,
          expectedVersion: (await service.conversation(byHand.id, owner.token)).version,
          force: true,
        },
        owner.token,
      );
      await service.post(`/conversations/${taken.id}/take`, undefined, ann.token);
      await choose(bob, 'available');
      await go(scene);
      t.equal(await assignee(routed.id), bob.agentId, what);
      for (const { id } of [answered, pending, byHand, taken])
        t.equal(await assignee(id), ann.agentId, `${what}: what was answered, put off, given or taken by hand stays`);
      const { messages } = (await service.get(`/conversations/${routed.id}/messages`, owner.token)).body;
      t.ok(
        messages.some((one: any) => one.senderType === 'system' && line.test(one.body)),
        `${what}: with a line`,
      );
    }
  });

  t.test('[decisions, presence] if no one else is available they wait, and return to the first who is', async (t) => {
    const { owner, ann, choose, assignee, come, leave } = await start();
    await choose(ann, 'available');
    const chat = await service.chat(owner);
    await leave(ann, await come(ann));
    await service.pass(5 * minuteMs);
    t.equal(await assignee(chat.id), null);
    const socket = await come(ann);
    t.equal(await assignee(chat.id), ann.agentId);
    await leave(ann, socket);
  });

  t.test('[decisions, presence] calls stop ringing an absent agent, and ring it when it returns', async (t) => {
    const { owner, ann, bob, choose, come, leave } = await start();
    const line = await claimLine(service, owner);
    const ringing = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body.ringingAgentIds;
    await choose(ann, 'available');
    await choose(bob, 'available');
    await leave(ann, await come(ann));
    await service.pass(5 * minuteMs - 10_000);
    const { id } = await ringLine(service, line);
    t.same(new Set(await ringing(id)), new Set([ann.agentId, bob.agentId]));
    await service.pass(10_000);
    t.same(await ringing(id), [bob.agentId]);
    const socket = await come(ann);
    t.same(
      new Set(await ringing(id)),
      new Set([ann.agentId, bob.agentId]),
      'a call that rang no one rings an agent who becomes available',
    );
    await service.post('/auth/logout', undefined, bob.token);
    t.same(await ringing(id), [ann.agentId]);
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    await leave(ann, socket);
  });

  t.test(
    '[decisions, presence] a customer who returns to a chat of an absent agent is routed again; an agent away by choice keeps it',
    async (t) => {
      const { owner, ann, bob, choose, assignee, come, leave } = await start();
      await choose(ann, 'available');
      const solved = async () => {
        const chat = await service.chat(owner);
        await service.post(`/conversations/${chat.id}/messages`, { body: 'Here you are.' }, ann.token);
        await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, ann.token);
        return chat;
      };
      const [first, second, third] = [await solved(), await solved(), await solved()];
      const comeBack = (chat: typeof first) =>
        service.post(`/widget/conversations/${chat.id}/messages`, { body: 'One more thing.' }, chat.customer.token);
      await choose(ann, 'away');
      await choose(bob, 'available');
      await comeBack(first);
      t.equal(await assignee(first.id), ann.agentId, 'away for a while');
      await choose(ann, 'available');
      await leave(ann, await come(ann));
      await service.pass(5 * minuteMs);
      await comeBack(second);
      t.equal(await assignee(second.id), bob.agentId, 'her inbox is closed');
      await service.post('/auth/logout', undefined, ann.token);
      await choose(bob, 'away');
      await comeBack(third);
      t.equal(await assignee(third.id), null, 'signed out, with no one available: it waits where everyone sees it');
    },
  );

  t.test('[4.7] a new agent starts with one of the waiting chats, and gets its share once it is online', async (t) => {
    const { owner, come, leave } = await start();
    for (let count = 0; count < 7; count += 1) await service.chat(owner);
    const held = async (person: Person) =>
      (await service.get(`/conversations/queue?limit=200&assigneeId=${person.agentId}`, owner.token)).body.conversations
        .length;
    const cat = await service.agent(owner, { available: true });
    t.equal(await held(cat), 1, 'the moment it chose its password');
    await service.post(`/conversations/${(await service.chat(owner)).id}/status`, { status: 'solved' }, owner.token);
    t.ok((await held(cat)) <= 2, 'nor does anything else hand it the rest');
    const socket = await come(cat);
    t.equal(await held(cat), 5);
    await leave(cat, socket);
    const { owner: other, choose } = await start();
    for (let count = 0; count < 3; count += 1) await service.chat(other);
    const dan = await service.agent(other, { available: true });
    await choose(dan, 'available');
    t.equal(
      (await service.get(`/conversations/queue?assigneeId=${dan.agentId}`, other.token)).body.conversations.length,
      3,
      'or says that it is',
    );
  });

  t.test('[decisions, presence] a deactivated agent is offline and has no socket', async (t) => {
    const { owner, ann, choose, come, gone, standing } = await start();
    await choose(ann, 'available');
    const socket = await come(ann);
    await service.delete(`/agents/${ann.agentId}`, owner.token);
    await socket.closed;
    await gone(ann);
    t.same(await standing(ann), ['offline', 'automatic', false]);
    await service.pass(5 * minuteMs);
    t.same(await standing(ann), ['offline', 'automatic', false]);
  });
});

t.test(
  '[decisions, presence] a socket ends with the process: an agent who does not return is away after the minutes',
  async (t) => {
    const dataDir = tempFolder(t);
    const clock = new ManualClock('2026-11-20T12:00:00.000Z');
    const first = await startService(t, { dataDir, clock });
    const owner = await first.workspace();
    const [ann, bob] = [await first.agent(owner, { available: true }), await first.agent(owner, { available: true })];
    for (const { token } of [ann, bob]) await first.post('/me/status', { status: 'available' }, token);
    await first.agentSocket(ann.token);
    await first.agentSocket(bob.token);
    await first.settled();
    const { id } = await first.chat(owner);
    await first.stop();

    const second = await startService(t, { dataDir, clock: new ManualClock('2026-11-20T13:00:00.000Z') });
    const { standing, come, assignee } = watch(second, owner);
    await second.settled();
    t.same(await standing(ann), ['available', 'chosen', false], 'it has none');
    const socket = await come(bob);
    await second.pass(5 * minuteMs);
    t.same(
      [await standing(ann), await standing(bob)],
      [
        ['away', 'automatic', false],
        ['available', 'chosen', true],
      ],
    );
    t.equal(await assignee(id), bob.agentId, 'and chats routed to it continue');
    await socket.close();
  },
);
