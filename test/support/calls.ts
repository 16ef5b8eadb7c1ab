// A phone number and its calls: claimed over HTTP, rung by the simulated carrier's signed webhook.

import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { addAgent } from '../../engine/workspace/roster.ts';
import type { Services } from '../../http/services.ts';
import { signatureOf } from '../../http/signed/signatures.ts';
import type { NewAgent } from '../../store/workspace/agents.ts';
import type { Answer, Person, Service } from './service.ts';

export interface Line {
  readonly id: string;
  readonly e164: string;
  readonly owner: Person;
  readonly secret: string;
}

export interface Delivery {
  readonly type: string;
  readonly callId: string;
  readonly from?: string | null;
  readonly to?: string;
  readonly durationMs?: number;
  readonly recordingUrl?: string;
  readonly transcript?: string;
}

export const customerNumber = '+14155550123';
let claimed = 0;
let rung = 0;

/** A number of the owner's workspace that no other has. */
export async function claimLine(service: Service, owner: Person, fields: Record<string, unknown> = {}): Promise<Line> {
  claimed += 1;
  const e164 = `+1212555${String(claimed).padStart(4, '0')}`;
  const { status, body } = await service.post(
    '/phone-numbers',
    { e164, displayName: 'Support', routingStrategy: 'all_agents', ...fields },
    owner.token,
  );
  if (status !== 201) throw new Error(`claim: ${status} ${JSON.stringify(body)}`);
  const { carrier } = (await service.get('/workspace/integrations', owner.token)).body;
  return { id: body.id, e164, owner, secret: carrier.secret };
}

/** Signs and delivers. `from` and `to` default to the customer and the line. */
export function deliver(
  service: Service,
  line: Pick<Line, 'e164' | 'secret'>,
  delivery: Delivery,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  const body = JSON.stringify({ from: customerNumber, to: line.e164, ...delivery });
  return service.call('POST', '/carrier/events', {
    body,
    headers: { 'X-Signature': signatureOf(Buffer.from(body), line.secret), ...headers },
  });
}

export function newCallId(): string {
  rung += 1;
  return `call-${rung}`;
}

/** A new incoming call. */
export async function ringLine(
  service: Service,
  line: Line,
  delivery: Partial<Delivery> = {},
): Promise<{ id: string; callId: string }> {
  const callId = newCallId();
  const { status, body } = await deliver(service, line, { type: 'ringing', callId, ...delivery });
  if (status !== 200 || body.conversationId === null) throw new Error(`ring: ${status} ${JSON.stringify(body)}`);
  return { id: body.conversationId, callId };
}

/** The timeline's event types. */
export function timelineOf(call: { events: { eventType: string }[] }): string[] {
  return call.events.map((event) => event.eventType);
}

/** Available agents who work with calls, without the hundred milliseconds of hashing a password. */
export async function addAgents(
  { engine, accessTokens, clock, ids }: Services,
  owner: Person,
  count: number,
): Promise<Person[]> {
  const agents = Array.from(
    { length: count },
    (_, index): NewAgent => ({
      id: ids.uuid(),
      email: `${ids.uuid()}@example.com`,
      name: `Agent ${index + 1}`,
      role: 'agent',
      status: 'available',
      channels: ['calls'],
      groupIds: [],
      avatarUrl: null,
      canTransfer: false,
      passwordHash: 'none',
      tokenVersion: 0,
      lastAssignedAt: null,
      joinedAt: new Date(clock.now()).toISOString(),
      deactivatedAt: null,
      createdAt: new Date(clock.now()).toISOString(),
    }),
  );
  const add = command('test.addAgents', (ctx, _: object) => agents.forEach((agent) => addAgent(ctx, agent)));
  await engine.execute(add, { workspaceId: owner.workspaceId, caller: systemCaller, params: {} });
  return Promise.all(
    agents.map(async ({ id: agentId, email }) => ({
      token: await accessTokens.issue({
        agentId,
        workspaceId: owner.workspaceId,
        tokenVersion: 0,
        expiresMs: clock.now() + 24 * 3600_000,
      }),
      agentId,
      workspaceId: owner.workspaceId,
      email,
    })),
  );
}
