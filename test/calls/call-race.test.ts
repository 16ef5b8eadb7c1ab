// Races for a ringing call. Each seed is a list of commands sent at once; a small model of the rules gives the expected
// answer to each, in the order they were sent.

import t from 'tap';
import { answerCall, hangUp } from '../../engine/calls/actions.ts';
import { receiveCarrierEvent } from '../../engine/calls/carrier-events.ts';
import { Refusal } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { addAgents, claimLine, customerNumber, newCallId, ringLine, timelineOf } from '../support/calls.ts';
import { randomFrom } from '../support/seeded.ts';
import { type Person, startService } from '../support/service.ts';

type Step =
  | { readonly kind: 'answer'; readonly agent: Person; readonly expectedVersion: number | undefined }
  | { readonly kind: 'hangup'; readonly agent: Person }
  | { readonly kind: 'ended' };

/** The results of the steps by the rules, one after another. */
function expectedAnswers(steps: readonly Step[], about: { admin: Person; busy: ReadonlySet<string> }): string[] {
  let phase: 'ringing' | 'active' | 'ended' = 'ringing';
  let holder: string | undefined;
  let version = 1;
  const answer = (agent: Person, expectedVersion: number | undefined): string => {
    if (phase === 'active') return holder === agent.agentId ? 'ok' : 'call_unavailable already_claimed';
    if (phase === 'ended') return 'call_unavailable call_ended';
    if (about.busy.has(agent.agentId)) return 'call_unavailable agent_busy';
    if (expectedVersion !== undefined && expectedVersion !== version) return 'call_unavailable stale_version';
    phase = 'active';
    holder = agent.agentId;
    version += 1;
    return 'ok';
  };
  const hangup = (agent: Person): string => {
    if (agent !== about.admin && holder !== agent.agentId) return 'not_assigned';
    if (phase === 'ended') return 'call_unavailable call_ended';
    end();
    return 'ok';
  };
  const end = (): void => {
    if (phase === 'active') version += 1;
    phase = 'ended';
  };
  return steps.map((step) => {
    if (step.kind === 'answer') return answer(step.agent, step.expectedVersion);
    if (step.kind === 'hangup') return hangup(step.agent);
    if (phase !== 'ended') end();
    return 'ok';
  });
}

const answered = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'ok',
    (error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      const reason = (error.detail as { reason?: string } | undefined)?.reason;
      return reason === undefined ? error.slug : `${error.slug} ${reason}`;
    },
  );

t.test('[4.8] a ringing call has one winner, and every other agent learns why it lost', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const line = await claimLine(service, owner);
  const agents = await addAgents(service.running.services, owner, 100);
  const { engine } = service.running.services;
  const { workspaceId } = owner;
  const busy = new Set<string>();
  for (const agent of agents.slice(0, 5)) {
    const { id } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, agent.token);
    busy.add(agent.agentId);
  }

  t.test('100 answers mixed with hangups, over 150 seeds', async (t) => {
    let wins = 0;
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = randomFrom(seed);
      const hangupShare = random.pick([0, 0.02, 0.2]);
      const steps = Array.from({ length: 100 }, (): Step => {
        if (!random.chance(hangupShare))
          return {
            kind: 'answer',
            agent: random.pick(agents),
            expectedVersion: random.pick([undefined, undefined, 1, 2]),
          };
        return random.chance(0.3)
          ? { kind: 'ended' }
          : { kind: 'hangup', agent: random.chance(0.3) ? owner : random.pick(agents) };
      });
      const { id, callId } = await ringLine(service, line);
      const outcomes = await Promise.all(
        steps.map((step) => {
          if (step.kind === 'ended')
            return answered(
              engine.execute(receiveCarrierEvent, {
                workspaceId,
                caller: systemCaller,
                params: { type: 'ended', callId, from: customerNumber, to: line.e164 },
              }),
            );
          const caller = { kind: 'agent', agentId: step.agent.agentId } as const;
          if (step.kind === 'hangup')
            return answered(engine.execute(hangUp, { workspaceId, caller, params: { conversationId: id } }));
          return answered(
            engine.execute(answerCall, {
              workspaceId,
              caller,
              params: { conversationId: id, expectedVersion: step.expectedVersion },
            }),
          );
        }),
      );
      const expected = expectedAnswers(steps, { admin: owner, busy });
      if (JSON.stringify(outcomes) !== JSON.stringify(expected)) {
        t.same(outcomes, expected, `seed ${seed}`);
        break;
      }
      const winners = new Set(
        steps.flatMap((step, index) =>
          step.kind === 'answer' && outcomes[index] === 'ok' ? [step.agent.agentId] : [],
        ),
      );
      if (winners.size > 1) t.fail(`seed ${seed} has ${winners.size} winners`);
      wins += winners.size;
      const call = (await service.get(`/calls/${id}`, owner.token)).body;
      const entries = timelineOf(call).filter((entry) => entry === 'answered').length;
      if (entries !== winners.size) t.fail(`seed ${seed}: ${entries} answered on the timeline`);
      if (call.state !== 'ended') await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    }
    t.ok(wins > 75, `${wins} of 150 calls were answered, the others ended before`);
  });

  t.test('100 agents answer by HTTP and by socket at the same moment', async (t) => {
    for (let round = 0; round < 3; round += 1) {
      const { id } = await ringLine(service, line);
      const sockets = await Promise.all(agents.slice(5, 25).map((agent) => service.agentSocket(agent.token)));
      const outcomes = await Promise.all([
        ...sockets.map((socket) => socket.call('call.answer', { conversationId: id })),
        ...agents.slice(25).map((agent) => service.post(`/calls/${id}/answer`, undefined, agent.token)),
        ...agents.slice(0, 5).map((agent) => service.post(`/calls/${id}/answer`, undefined, agent.token)),
      ]);
      const won = outcomes.filter(({ status }) => status === 200);
      t.equal(won.length, 1, 'one winner');
      const reasons = outcomes
        .filter(({ status }) => status !== 200)
        .map(({ status, body }) => `${status} ${body.error} ${body.detail.reason}`);
      t.same(
        [...new Set(reasons)].filter((reason) => reason !== '409 call_unavailable agent_busy'),
        ['409 call_unavailable already_claimed'],
      );
      t.equal(reasons.length, 99);
      const told = await Promise.all(sockets.map((socket) => socket.next('call.answered')));
      t.same(
        [...new Set(told.map((frame) => frame.data.call.assignedAgentId))],
        [won[0]?.body.assignedAgentId],
        'everyone sees the same winner',
      );
      await service.post(`/calls/${id}/hangup`, undefined, owner.token);
      await Promise.all(sockets.map((socket) => socket.close()));
    }
  });

  t.test('one agent answers many calls at the same moment and gets one', async (t) => {
    const [, , , , , agent] = agents;
    if (agent === undefined) throw new Error('no agent');
    const calls = await Promise.all(Array.from({ length: 20 }, () => ringLine(service, line, { callId: newCallId() })));
    const outcomes = await Promise.all(
      calls.map(({ id }) => service.post(`/calls/${id}/answer`, undefined, agent.token)),
    );
    t.equal(outcomes.filter(({ status }) => status === 200).length, 1);
    t.equal(outcomes.filter(({ status, body }) => status === 409 && body.detail.reason === 'agent_busy').length, 19);
  });
});
