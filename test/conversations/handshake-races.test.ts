import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { randomFrom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';

t.test('[3 handshake] concurrent answers, withdrawal and deadline: exactly one of them counts', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);
  const ends = ['assignment.accepted', 'assignment.declined', 'assignment.cancelled', 'assignment.expired'];
  const winners = new Map<string, number>();

  for (let seed = 1; seed <= 30; seed += 1) {
    const random = randomFrom(seed);
    const chat = await service.chat(owner);
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: chat.version, force: true },
      owner.token,
    );
    const { version } = await service.conversation(chat.id, owner.token);
    const offered = (
      await service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId: bob.agentId, expectedVersion: version },
        ann.token,
      )
    ).body.conversation;
    const socket = await service.agentSocket(owner.token);
    if (random.below(2) === 0) service.clock.advance(29_999);

    const answer = (step: string, token: string) => () =>
      service.post(
        `/conversations/${chat.id}/assignment/${step}`,
        random.below(3) === 0 ? { expectedVersion: offered.version } : undefined,
        token,
      );
    const moves = random.shuffled([
      answer('accept', bob.token),
      answer('accept', owner.token),
      answer('decline', bob.token),
      answer('cancel', ann.token),
      ...(random.below(2) === 0 ? [async () => service.clock.advance(1)] : []),
    ]);
    const results = await Promise.all(moves.map((move) => move()));
    await service.pass(30_000);
    await socket.flushed();
    const won = results.filter((result) => typeof result === 'object' && result.status === 200).length;
    const happened = socket.events.filter((type) => ends.includes(type));
    t.equal(happened.length, 1, `seed ${seed}: ${happened.join(' ')}`);
    t.equal(won, happened[0] === 'assignment.expired' ? 0 : 1, `seed ${seed}: one caller won`);
    for (const result of results)
      if (typeof result === 'object' && result.status !== 200)
        t.match(result, { status: 409, body: { error: /^(no_pending_handshake|stale_version)$/ } }, `seed ${seed}`);
    const expected = happened[0] === 'assignment.accepted' ? bob : ann;
    t.match(
      await service.conversation(chat.id, owner.token),
      { assignedAgentId: expected.agentId, handshake: null, version: offered.version + 1 },
      `seed ${seed}`,
    );
    winners.set(happened[0] ?? '', (winners.get(happened[0] ?? '') ?? 0) + 1);
    await socket.close();
  }
  t.ok(winners.size >= 3, `the seeds reach different ends: ${JSON.stringify([...winners])}`);
});

t.test('[8] of parallel assignments with one version, one wins and the others are stale', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const people = [await service.agent(owner), await service.agent(owner), await service.agent(owner)];
  const { id, version } = await service.chat(owner);
  const results = await Promise.all(
    people.map((one) =>
      service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: one.agentId, expectedVersion: version },
        one.token,
      ),
    ),
  );
  t.strictSame(results.map(({ status }) => status).sort(), [200, 409, 409]);
  for (const { status, body } of results)
    if (status === 409) t.match(body, { error: 'stale_version', detail: { currentVersion: version + 1 } });
  const winner = people[results.findIndex(({ status }) => status === 200)];
  t.equal((await service.conversation(id, owner.token)).handshake.toAgentId, winner?.agentId);
});

t.test('[decisions] an offer survives a restart', async (t) => {
  const restarted = async (awayMs: number) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const clock = new ManualClock();
    const first = await startService(t, { dataDir, clock });
    const owner = await first.workspace();
    const ann = await first.agent(owner);
    const bob = await first.agent(owner);
    const chat = await first.chat(owner);
    await first.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: chat.version, force: true },
      owner.token,
    );
    const { version } = await first.conversation(chat.id, owner.token);
    await first.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: bob.agentId, expectedVersion: version },
      ann.token,
    );
    await first.pass(10_000);
    await first.stop();
    clock.jump(awayMs);
    const service = await startService(t, { dataDir, clock });
    await service.settled();
    return { service, owner, ann, bob, id: chat.id };
  };

  t.test('its 30 seconds ran out while the process was down: it reverts at start, unasked', async (t) => {
    const { service, owner, ann, id } = await restarted(20_000);
    t.match(await service.conversation(id, owner.token), { assignedAgentId: ann.agentId, handshake: null });
    const { messages } = (await service.get(`/conversations/${id}/messages`, owner.token)).body;
    t.match(messages.at(-1), { senderType: 'system', senderId: null });
  });

  t.test('its time is not over: it stays, and reverts on time', async (t) => {
    const { service, owner, ann, bob, id } = await restarted(19_999);
    t.equal((await service.conversation(id, owner.token)).handshake.toAgentId, bob.agentId);
    await service.pass(1);
    t.match(await service.conversation(id, owner.token), { assignedAgentId: ann.agentId, handshake: null });
  });

  t.test('they have not: it can be accepted', async (t) => {
    const { service, owner, bob, id } = await restarted(5000);
    t.equal((await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token)).status, 200);
    await service.pass(60_000);
    t.match(await service.conversation(id, owner.token), { assignedAgentId: bob.agentId, handshake: null });
  });
});
