// What requests are fired at: the real service over a folder of its own, a workspace of ours with callers of every kind, and one of
// somebody else's, whose texts all hold a mark that must never be seen here. Nothing leaves the loopback: names are asked of a name
// server that knows none.

import { join } from 'node:path';
import { directoryPath, verifyAgreement, verifyDirectory, verifyWorkspace, workspaceIdsIn, workspacePath } from '../../engine/soundness.ts';
import { theRoster } from '../../engine/roster.ts';
import { systemCaller } from '../../engine/runtime/command.ts';
import { createLog } from '../../http/log.ts';
import { claimLine, customerNumber, type Line, newCallId, ringLine } from '../support/calls.ts';
import { makeKey } from '../support/keys.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { challenge, redirectUri, registerApp, tokensOf, verifier } from '../support/oauth.ts';
import { randomFrom } from '../support/seeded.ts';
import { type Customer, type Mailbox, password, type Person, type Service, startService, type Teardown } from '../support/service.ts';
import { oneOfEverything, type Things } from '../support/things.ts';
import { tempFolder } from '../support/folder.ts';
import { madeUpIds, type Pools } from './values.ts';

export const callerNames = ['admin', 'supervisor', 'agent', 'key', 'narrowKey', 'app', 'visitor', 'stranger', 'nobody'] as const;
export type CallerName = (typeof callerNames)[number];

/** In every text of the other workspace, and in no request. */
export const mark = 'qzmarkqz';

const appScopes = ['conversations:read', 'conversations:write', 'messages:read', 'messages:send', 'visitors:read', 'visitors:write', 'agents:read', 'reports:read', 'ai:read', 'webhooks:write'];
const tokenLifeMs = 7 * 24 * 3600_000;
/** Operations that another system calls, and which of the workspace's secrets signs them. */
const signedBy: Readonly<Record<string, 'mail' | 'carrier'>> = { 'email.inbound': 'mail', 'carrier.event': 'carrier' };

type Owner = Person & { siteId: string; embedId: string };

interface Parts {
  readonly service: Service;
  readonly dataDir: string;
  readonly owner: Owner;
  readonly ours: Things;
  readonly theirs: Things;
  readonly theirEmbedId: string;
  readonly people: Record<'supervisor' | 'agent', Person>;
  readonly line: Line;
}

export class World {
  readonly service: Service;
  readonly #dataDir: string;
  readonly #owner: Owner;
  readonly ours: Things;
  readonly theirs: Things;
  readonly theirEmbedId: string;
  readonly #line: Line;
  /** Made anew by each renewal, since their time runs out. */
  #conversations = { call: '', offer: '', solved: '', ticket: '', chat: '' };
  readonly #people: Record<'supervisor' | 'agent', Person>;
  #customer: Customer;
  #tokens: Readonly<Partial<Record<CallerName, string>>> = {};
  #mailbox: Mailbox = { address: '', secret: '' };
  #carrierSecret = '';
  #clientId = '';
  readonly #tokenSecrets: string[] = [];

  private constructor(parts: Parts) {
    this.service = parts.service;
    this.#dataDir = parts.dataDir;
    this.#owner = parts.owner;
    this.ours = parts.ours;
    this.theirs = parts.theirs;
    this.theirEmbedId = parts.theirEmbedId;
    this.#people = parts.people;
    this.#line = parts.line;
    this.#customer = parts.ours.customer;
  }

  /** `verbose` writes the log of the service, so that the cause of a 500 can be read. */
  static async start(t: Teardown, options: { seed: number; verbose?: boolean }): Promise<World> {
    const random = randomFrom(options.seed);
    const dns = await DnsZone.start(t);
    const dataDir = join(tempFolder(t), 'data');
    const env = { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1', ALLOW_PRIVATE_WEBHOOKS: '1', DNS_SERVERS: dns.address };
    const service = await startService(t, { env, dataDir, random: random.next, fillRandom: (bytes) => random.fill(bytes), ...(options.verbose === true && { log: createLog('error') }) });
    const owner = await service.workspace();
    const other = await service.workspace();
    for (const { workspaceId } of [owner, other]) await service.plan(workspaceId, 'enterprise');
    const ours = await oneOfEverything(service, owner, 'ours');
    const theirs = await oneOfEverything(service, other, mark);
    const people = { supervisor: await service.agent(owner, { role: 'supervisor' }), agent: await service.agent(owner) };
    const line = await claimLine(service, owner);
    const world = new World({ service, dataDir, owner, ours, theirs, theirEmbedId: other.embedId, people, line });
    await world.renew();
    return world;
  }

  /** Undefined for a stranger's token that is none of ours to know. */
  tokenOf(caller: CallerName): string | undefined {
    return this.#tokens[caller];
  }

  /** Whose secret signs the requests of an operation. */
  secretFor(operation: string): string | undefined {
    const who = signedBy[operation];
    return who === undefined ? undefined : who === 'mail' ? this.#mailbox.secret : this.#carrierSecret;
  }

  /** For operations whose sound body speaks of this world; undefined for the others. */
  soundBodyOf(operation: string): (() => object) | undefined {
    const bodies: Readonly<Record<string, () => object>> = {
      'email.inbound': () => ({ from: 'Carla <carla@customer.example>', to: [this.#mailbox.address], subject: 'Where is it?', text: 'It is not here yet.' }),
      'carrier.event': () => ({ type: 'ringing', callId: newCallId(), from: customerNumber, to: this.#line.e164 }),
      'widget.openSession': () => ({ siteId: this.#owner.embedId, url: 'https://shop1.example/' }),
      'auth.login': () => ({ email: this.#people.agent.email, password }),
      'oauth.token': () => ({ grant_type: 'refresh_token', refresh_token: this.#tokenSecrets[1], client_id: this.#clientId }),
      'oauth.revoke': () => ({ token: this.#tokenSecrets[1], client_id: this.#clientId }),
      'oauth.decide': () => ({ response_type: 'code', client_id: this.#clientId, redirect_uri: redirectUri, scope: 'conversations:read', code_challenge: challenge, code_challenge_method: 'S256', email: this.#people.agent.email, password, decision: 'allow' }),
    };
    return bodies[operation];
  }

  /** After requests that may have ended tokens, locked features or changed secrets: everybody can do again what they could. */
  async renew(): Promise<void> {
    const { service } = this;
    await service.plan(this.#owner.workspaceId, 'enterprise');
    const admin = await this.#tokenFor(this.#owner.agentId);
    const owner: Person = { ...this.#owner, token: admin };
    for (const role of ['supervisor', 'agent'] as const) if (!this.#isActive(this.#people[role].agentId)) this.#people[role] = await service.agent(owner, { role });
    if ((await service.get(`/visitors/${this.#customer.visitorId}/conversations`, admin)).status !== 200) this.#customer = await service.customer(this.#owner.embedId);
    await service.post(`/visitors/${this.#customer.visitorId}/unblock`, undefined, admin);
    if ((await service.post('/widget/page-views', { url: 'https://shop.example/' }, this.#customer.token)).status === 401) this.#customer = await service.customer(this.#owner.embedId);
    const isAlive = async (caller: CallerName, path: string): Promise<boolean> => this.#tokens[caller] !== undefined && (await service.get(path, this.#tokens[caller])).status !== 401;
    const key = (await isAlive('key', '/me')) ? this.#tokens.key : await makeKey(service, owner, { scopes: ['*'] });
    const narrowKey = (await isAlive('narrowKey', '/me')) ? this.#tokens.narrowKey : await makeKey(service, owner, { scopes: ['verify'] });
    const app = (await isAlive('app', '/me')) ? this.#tokens.app : await this.#appToken(owner);
    await this.#converse({ ...owner, siteId: this.#owner.siteId, embedId: this.#owner.embedId });
    const integrations = (await service.get('/workspace/integrations', admin)).body;
    this.#mailbox = integrations.inboundEmail;
    this.#carrierSecret = integrations.carrier.secret;
    const [supervisor, agent] = [await this.#tokenFor(this.#people.supervisor.agentId), await this.#tokenFor(this.#people.agent.agentId)];
    this.#tokens = { admin, supervisor, agent, visitor: this.#customer.token, stranger: 'sk_live_nobodys', ...(key && { key }), ...(narrowKey && { narrowKey }), ...(app && { app }) };
  }

  /** Real values for a field or parameter of this name: of ours, of the other workspace's, made up. */
  readonly pools: Pools = (name) => {
    const { ours, theirs } = this;
    const [agentIds, anyIds] = [[this.#owner.agentId, this.#people.supervisor.agentId, this.#people.agent.agentId], [...Object.values(ours.ids), ...Object.values(theirs.ids)]];
    const named = (key: string): string[] => [ours.ids[key], ours.ids[key], theirs.ids[key], madeUpIds[0]].flatMap((id) => id ?? []);
    const { call, offer, chat } = this.#conversations;
    const special: Readonly<Record<string, readonly string[]>> = {
      conversationId: [ours.ids['conversationId'] ?? '', ...Object.values(this.#conversations), ...named('conversationId')],
      call: [call, ...named('conversationId')],
      offer: [offer, ...named('conversationId')],
      chat: [chat, ...named('conversationId')],
      agentId: [...agentIds, ...named('agentId')],
      assigneeId: [...agentIds, 'none'],
      memberIds: [...agentIds, ...named('agentId')],
      routingTargetId: [...agentIds, ...named('departmentId')],
      groupIds: named('departmentId'),
      departments: named('departmentId'),
      defaultDepartmentId: named('departmentId'),
      verifyId: named('verificationId'),
      id: anyIds,
      password: [password],
      code: ['000000', '123456'],
      email: [this.#owner.email, this.#people.agent.email, ours.ids['email'] ?? '', theirs.ids['email'] ?? ''],
      to: [this.#mailbox.address, 'kim@example.org', '+14155550123'],
      from: ['Kim <kim@example.org>', '2026-11-01', '+14155550123'],
      visitorToken: [this.#customer.token, theirs.customer.token],
      client_id: [this.#clientId],
      redirect_uri: [redirectUri],
      code_challenge: [challenge],
      code_challenge_method: ['S256', 'plain'],
      code_verifier: [verifier],
      response_type: ['code', 'token'],
      grant_type: ['authorization_code', 'refresh_token', 'password'],
      scope: ['conversations:read', 'agents:read conversations:read', '*'],
      scopes: appScopes,
      token: this.#tokenSecrets,
      refresh_token: this.#tokenSecrets,
      type: ['text/plain', 'chats/total'],
      contentType: ['text/plain', 'image/png', 'image/svg+xml'],
      timezone: ['Europe/Berlin', 'America/St_Johns'],
      file: ['app.js', 'nothing.js'],
      hook: ['voice', 'status'],
      ...this.#signatureOfUpload(),
    };
    return special[name] ?? (name === 'siteId' ? [...named('siteId'), this.#owner.embedId, this.#owner.embedId] : named(name));
  };

  /** What is wrong on disk after all of it; ends the service. */
  async close(): Promise<string[]> {
    await this.service.settled();
    this.service.requireSoundReports();
    await this.service.stop();
    const findings = workspaceIdsIn(this.#dataDir).flatMap((workspaceId) => verifyWorkspace(workspacePath(this.#dataDir, workspaceId), workspaceId).findings);
    return [...findings, ...verifyDirectory(directoryPath(this.#dataDir)), ...verifyAgreement(this.#dataDir)].map((finding) => JSON.stringify(finding));
  }

  /** A call that rings, a chat that is offered to an agent, one that is solved, a ticket, and the chat of our own visitor. */
  async #converse(owner: Owner): Promise<void> {
    const { service } = this;
    const [ringing, offered, solved] = [await ringLine(service, this.#line), await service.chat(owner), await service.chat(owner)];
    await service.post(`/conversations/${offered.id}/assign-to-agent`, { agentId: this.#people.agent.agentId, expectedVersion: offered.version }, owner.token);
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, owner.token);
    const ticket = await service.post('/tickets', { customerEmail: 'kim@example.org', subject: 'A ticket', body: 'Of one line.' }, owner.token);
    const started = await service.post('/widget/conversations', { body: 'Hello' }, this.#customer.token);
    this.#conversations = { call: ringing.id, offer: offered.id, solved: solved.id, ticket: ticket.body.id, chat: started.body.conversation.id };
  }

  #isActive(agentId: string): boolean {
    return this.#agent(agentId)?.deactivatedAt === null;
  }

  #agent(agentId: string) {
    const workspace = this.service.running.services.engine.workspace(this.#owner.workspaceId);
    return workspace === undefined ? undefined : theRoster(workspace.view(systemCaller)).agents.get(agentId);
  }

  async #tokenFor(agentId: string): Promise<string> {
    const { services } = this.service.running;
    const tokenVersion = this.#agent(agentId)?.tokenVersion ?? 0;
    return services.accessTokens.issue({ agentId, workspaceId: this.#owner.workspaceId, tokenVersion, expiresMs: services.clock.now() + tokenLifeMs });
  }

  async #appToken(owner: Person): Promise<string> {
    const agent = await this.service.agent(owner, { role: 'admin' });
    const app = await registerApp(this.service, owner, { scopes: appScopes, public: true });
    this.#clientId = app.clientId;
    const tokens = await tokensOf(this.service, app, agent, { scope: appScopes.join(' ') });
    this.#tokenSecrets.splice(0, Infinity, tokens.access_token, tokens.refresh_token);
    return tokens.access_token;
  }

  #signatureOfUpload(): Readonly<Record<string, readonly string[]>> {
    const query = new URL(this.ours.uploadUrl).searchParams;
    return Object.fromEntries(['size', 'expires', 'signature'].map((name) => [name, [query.get(name) ?? '']]));
  }
}
