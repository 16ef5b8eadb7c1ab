// The target of the requests: the real service on its own folder, a workspace of ours with callers of every kind, and
// another one, whose texts all contain a mark that must never appear here. Nothing leaves the loopback: the name server
// knows no names, and a site, Twilio and Stripe are servers of the test.

import { join } from 'node:path';
import {
  directoryPath,
  verifyAgreement,
  verifyDirectory,
  verifyWorkspace,
  workspaceIdsIn,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { createLog } from '../../http/process/log.ts';
import { signatureOf } from '../../http/signed/signatures.ts';
import { twilioSignature } from '../../workers/providers/carrier-twilio-hooks.ts';
import { claimLine, customerNumber, type Line, newCallId, ringLine } from '../support/calls.ts';
import { ChatServer } from '../support/chat-server.ts';
import { tempFolder } from '../support/folder.ts';
import { makeKey } from '../support/keys.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { challenge, redirectUri, registerApp, tokensOf, verifier } from '../support/oauth.ts';
import { randomFrom } from '../support/seeded.ts';
import {
  type Customer,
  type Mailbox,
  type Person,
  password,
  type Service,
  startService,
  type Teardown,
} from '../support/service.ts';
import { Site } from '../support/site.ts';
import { FakeStripe } from '../support/stripe.ts';
import { oneOfEverything, type Things } from '../support/things.ts';
import { authToken, FakeTwilio } from '../support/twilio.ts';
import { madeUpIds, type Pools } from './values.ts';

export const callerNames = [
  'admin',
  'supervisor',
  'agent',
  'key',
  'narrowKey',
  'app',
  'visitor',
  'stranger',
  'nobody',
] as const;
export type CallerName = (typeof callerNames)[number];

/** In every text of the other workspace, and in no request. */
export const mark = 'qzmarkqz';

const appScopes = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:send',
  'visitors:read',
  'visitors:write',
  'agents:read',
  'reports:read',
  'ai:read',
  'webhooks:write',
];
const tokenLifeMs = 7 * 24 * 3600_000;
const allWeek = {
  days: Array.from({ length: 7 }, (_, day) => ({ weekday: day + 1, opens: '00:00', closes: '24:00' })),
};
/** A provider of mailboxes that does not answer. */
const closed = { host: '127.0.0.1', port: 9, security: 'tls' } as const;
const nowhere = {
  authorizeUrl: 'http://127.0.0.1:9/authorize',
  tokenUrl: 'http://127.0.0.1:9/token',
  scope: 'mail',
  imap: closed,
  smtp: closed,
};
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

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
  readonly site: Site;
  readonly chatServer: ChatServer;
  readonly stripe: FakeStripe | undefined;
}

export interface WorldOptions {
  readonly seed: number;
  /** Writes the service's log, which has the cause of a 500. */
  readonly verbose?: boolean;
  /** Twilio carries calls and Stripe bills, instead of the service's own providers. */
  readonly withProviders?: boolean;
}

export class World {
  readonly service: Service;
  readonly #dataDir: string;
  readonly #owner: Owner;
  readonly ours: Things;
  readonly theirs: Things;
  readonly theirEmbedId: string;
  readonly line: Line;
  /** With a logo, and a page at every other address. */
  readonly siteUrl: string;
  /** A language model. */
  readonly chatServer: ChatServer;
  /** If it bills. */
  readonly stripe: FakeStripe | undefined;
  #subscription: ReturnType<FakeStripe['pay']> | undefined;
  /** Created again by each renewal, since they expire. */
  #conversations = { call: '', offer: '', solved: '', ticket: '', chat: '' };
  readonly people: Record<'supervisor' | 'agent', Person>;
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
    this.people = parts.people;
    this.line = parts.line;
    this.siteUrl = `http://127.0.0.1:${parts.site.port}`;
    this.chatServer = parts.chatServer;
    this.stripe = parts.stripe;
    this.#customer = parts.ours.customer;
  }

  static async start(t: Teardown, options: WorldOptions): Promise<World> {
    const random = randomFrom(options.seed);
    const clock = new ManualClock();
    const [dns, site, chatServer] = [await DnsZone.start(t), await Site.start(t), await ChatServer.start(t)];
    site
      .page('/logo.png', png, { 'Content-Type': 'image/png' })
      .page('/robots.txt', '', { 'Content-Type': 'text/plain' });
    // A service that imports read from, at its limit.
    site.on('/limited/api/v1/accounts/1/agents', (_, response) => response.writeHead(429).end());
    site.on('*', ({ url }, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(`<h1>Parking</h1><p>You park at ${url}, behind the museum.</p>`),
    );
    const [twilio, stripe] =
      options.withProviders === true ? [await FakeTwilio.start(t), await FakeStripe.start(t, clock)] : [];
    const dataDir = join(tempFolder(t), 'data');
    const env = {
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_CRAWL: '1',
      ALLOW_PRIVATE_WEBHOOKS: '1',
      DNS_SERVERS: dns.address,
      GOOGLE_CLIENT_ID: 'app',
      GOOGLE_CLIENT_SECRET: 'app secret',
      ...twilio?.env(),
      ...stripe?.env,
    };
    const service = await startService(t, {
      env,
      dataDir,
      clock,
      crawlPauseMs: 0,
      mailProviders: { google: nowhere, microsoft: nowhere },
      random: random.next,
      fillRandom: (bytes) => random.fill(bytes),
      ...(options.verbose === true && { log: createLog('error') }),
    });
    const owner = await service.workspace();
    const other = await service.workspace();
    for (const { workspaceId } of [owner, other]) await service.plan(workspaceId, 'enterprise');
    const ours = await oneOfEverything(service, owner, 'ours');
    const theirs = await oneOfEverything(service, other, mark);
    const people = {
      supervisor: await service.agent(owner, { role: 'supervisor' }),
      agent: await service.agent(owner),
    };
    const line = await claimLine(service, owner);
    const world = new World({
      service,
      dataDir,
      owner,
      ours,
      theirs,
      theirEmbedId: other.embedId,
      people,
      line,
      site,
      chatServer,
      stripe,
    });
    await world.renew();
    return world;
  }

  /** Undefined for a visitor's token of the other workspace. */
  tokenOf(caller: CallerName): string | undefined {
    return this.#tokens[caller];
  }

  /** The header by which another system signs requests of this operation; none if it need not. */
  signatureOf(
    operation: string,
    { path, body }: { readonly path: string; readonly body: Uint8Array | undefined },
  ): Readonly<Record<string, string>> {
    const bytes = Buffer.from(body ?? []);
    switch (operation) {
      case 'email.inbound':
        return { 'X-Signature': signatureOf(bytes, this.#mailbox.secret) };
      case 'carrier.event':
        return { 'X-Signature': signatureOf(bytes, this.#carrierSecret) };
      case 'carrier.twilio':
        return {
          'X-Twilio-Signature': twilioSignature(
            authToken,
            `${this.service.running.services.config.baseUrl}${path}`,
            new URLSearchParams(bytes.toString('utf8')),
          ),
        };
      case 'billing.webhook':
        return this.stripe === undefined ? {} : { 'Stripe-Signature': this.stripe.sign(bytes.toString('utf8')) };
      default:
        return {};
    }
  }

  /** The owner, signed in now. */
  async admin(): Promise<Owner> {
    return { ...this.#owner, token: await this.#tokenFor(this.#owner.agentId) };
  }

  /** The service's answer to the owner; throws its refusals. */
  async asAdmin(method: string, path: string, body?: object): Promise<any> {
    return this.#done(method, path, { token: (await this.admin()).token, ...(body && { body }) });
  }

  /** The same for an API key with every scope. */
  asKey(method: string, path: string, body: object): Promise<any> {
    return this.#done(method, path, { token: this.#tokens.key, body });
  }

  async #done(
    method: string,
    path: string,
    { token, body }: { token: string | undefined; body?: object },
  ): Promise<any> {
    const answer = await this.service.call(method, path, { token, ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** It may have been changed meanwhile. */
  emailOf({ agentId, email }: Person): string {
    return this.#agent(agentId)?.email ?? email;
  }

  /** A new call to a line, which is reopened whatever was done to it. */
  async ring(): Promise<string> {
    await this.asAdmin('PATCH', `/phone-numbers/${this.line.id}`, {
      businessHours: allWeek,
      routingStrategy: 'all_agents',
    });
    return (await ringLine(this.service, this.line)).id;
  }

  /** The query with which our app sends an agent to the consent page. */
  authorization(): Readonly<Record<string, string>> {
    return {
      response_type: 'code',
      client_id: this.#clientId,
      redirect_uri: redirectUri,
      scope: 'conversations:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
  }

  /** Stripe's event after a change of our subscription. */
  billingEvent(): object {
    if (this.stripe === undefined || this.#subscription === undefined) throw new Error('no one bills here');
    return JSON.parse(this.stripe.event('customer.subscription.updated', this.#subscription).text);
  }

  /** For operations whose valid body refers to this world; undefined for the others. */
  soundBodyOf(operation: string): (() => object) | undefined {
    const bodies: Readonly<Record<string, () => object>> = {
      'email.inbound': () => ({
        from: 'Carla <carla@customer.example>',
        to: [this.#mailbox.address],
        subject: 'Where is it?',
        text: 'It is not here yet.',
      }),
      'carrier.event': () => ({ type: 'ringing', callId: newCallId(), from: customerNumber, to: this.line.e164 }),
      'widget.openSession': () => ({ siteId: this.#owner.embedId, url: 'https://shop1.example/' }),
      'auth.login': () => ({ email: this.people.agent.email, password }),
      'oauth.token': () => ({
        grant_type: 'refresh_token',
        refresh_token: this.#tokenSecrets[1],
        client_id: this.#clientId,
      }),
      'oauth.revoke': () => ({ token: this.#tokenSecrets[1], client_id: this.#clientId }),
      'oauth.decide': () => ({ ...this.authorization(), email: this.people.agent.email, password, decision: 'allow' }),
    };
    return bodies[operation];
  }

  /** Restores all callers' access after requests that may have ended tokens, locked features or changed secrets. */
  async renew(): Promise<void> {
    const { service } = this;
    await this.#subscribe();
    await service.plan(this.#owner.workspaceId, 'enterprise');
    const owner = await this.admin();
    const admin = owner.token;
    for (const role of ['supervisor', 'agent'] as const)
      if (!this.#isActive(this.people[role].agentId)) this.people[role] = await service.agent(owner, { role });
    if ((await service.get(`/visitors/${this.#customer.visitorId}/conversations`, admin)).status !== 200)
      this.#customer = await service.customer(this.#owner.embedId);
    await service.post(`/visitors/${this.#customer.visitorId}/unblock`, undefined, admin);
    if (
      (await service.post('/widget/page-views', { url: 'https://shop.example/' }, this.#customer.token)).status === 401
    )
      this.#customer = await service.customer(this.#owner.embedId);
    const isAlive = async (caller: CallerName, path: string): Promise<boolean> =>
      this.#tokens[caller] !== undefined && (await service.get(path, this.#tokens[caller])).status !== 401;
    const key = (await isAlive('key', '/me')) ? this.#tokens.key : await makeKey(service, owner, { scopes: ['*'] });
    const narrowKey = (await isAlive('narrowKey', '/me'))
      ? this.#tokens.narrowKey
      : await makeKey(service, owner, { scopes: ['verify'] });
    const app = (await isAlive('app', '/me')) ? this.#tokens.app : await this.#appToken(owner);
    await this.#converse(owner);
    const integrations = (await service.get('/workspace/integrations', admin)).body;
    this.#mailbox = integrations.inboundEmail;
    this.#carrierSecret = integrations.carrier.secret;
    const [supervisor, agent] = [
      await this.#tokenFor(this.people.supervisor.agentId),
      await this.#tokenFor(this.people.agent.agentId),
    ];
    this.#tokens = {
      admin,
      supervisor,
      agent,
      visitor: this.#customer.token,
      stranger: 'sk_live_nobodys',
      ...(key && { key }),
      ...(narrowKey && { narrowKey }),
      ...(app && { app }),
    };
  }

  /** Real values for a field or parameter of this name: ours, the other workspace's, and invented ones. */
  readonly pools: Pools = (name) => {
    const { ours, theirs } = this;
    const [agentIds, anyIds] = [
      [this.#owner.agentId, this.people.supervisor.agentId, this.people.agent.agentId],
      [...Object.values(ours.ids), ...Object.values(theirs.ids)],
    ];
    const named = (key: string): string[] =>
      [ours.ids[key], ours.ids[key], theirs.ids[key], madeUpIds[0]].flatMap((id) => id ?? []);
    const { call, offer, chat } = this.#conversations;
    const special: Readonly<Record<string, readonly string[]>> = {
      conversationId: [
        ours.ids['conversationId'] ?? '',
        ...Object.values(this.#conversations),
        ...named('conversationId'),
      ],
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
      email: [this.#owner.email, this.people.agent.email, ours.ids['email'] ?? '', theirs.ids['email'] ?? ''],
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
    return (
      special[name] ??
      (name === 'siteId' ? [...named('siteId'), this.#owner.embedId, this.#owner.embedId] : named(name))
    );
  };

  /** Stops the service and returns the problems on disk. */
  async close(): Promise<string[]> {
    await this.service.settled();
    this.service.requireSoundReports();
    await this.service.stop();
    const findings = workspaceIdsIn(this.#dataDir).flatMap(
      (workspaceId) => verifyWorkspace(workspacePath(this.#dataDir, workspaceId), workspaceId).findings,
    );
    return [...findings, ...verifyDirectory(directoryPath(this.#dataDir)), ...verifyAgreement(this.#dataDir)].map(
      (finding) => JSON.stringify(finding),
    );
  }

  /** A ringing call, a chat offered to an agent, a solved one, a ticket, and our visitor's chat. */
  async #converse(owner: Owner): Promise<void> {
    const { service } = this;
    const [ringing, offered, solved] = [await this.ring(), await service.chat(owner), await service.chat(owner)];
    await service.post(
      `/conversations/${offered.id}/assign-to-agent`,
      { agentId: this.people.agent.agentId, expectedVersion: offered.version },
      owner.token,
    );
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, owner.token);
    const ticket = await service.post(
      '/tickets',
      { customerEmail: 'kim@example.org', subject: 'A ticket', body: 'Of one line.' },
      owner.token,
    );
    const started = await service.post('/widget/conversations', { body: 'Hello' }, this.#customer.token);
    this.#conversations = {
      call: ringing,
      offer: offered.id,
      solved: solved.id,
      ticket: ticket.body.id,
      chat: started.body.conversation.id,
    };
  }

  /** With a provider: a plan that is chosen and paid. */
  async #subscribe(): Promise<void> {
    if (this.stripe === undefined || /^(?:active|trialing)$/.test(this.#subscription?.status ?? '')) return;
    const { url } = await this.asAdmin('POST', '/billing/checkout', {
      planId: 'business',
      interval: 'monthly',
      successUrl: 'https://shop1.example/',
      cancelUrl: 'https://shop1.example/',
    });
    this.#subscription = this.stripe.pay(url);
    await this.stripe.deliver(this.service, this.stripe.event('customer.subscription.created', this.#subscription));
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
    return services.accessTokens.issue({
      agentId,
      workspaceId: this.#owner.workspaceId,
      tokenVersion,
      expiresMs: services.clock.now() + tokenLifeMs,
    });
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
