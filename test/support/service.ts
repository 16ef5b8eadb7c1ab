// The real service on a free loopback port with its own data folder. Its clock is moved by the test, and every reply is
// validated by its declaration. None of our modules is replaced; only time and the disk's sync can be.

import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyReports } from '../../engine/rollups.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import type { PlanId } from '../../engine/workspace/entitlements.ts';
import { putWorkspace, theWorkspace } from '../../engine/workspace/workspace.ts';
import { readConfig } from '../../http/process/config.ts';
import { type Running, type ServeOptions, serve } from '../../http/serve.ts';
import { signatureOf } from '../../http/signed/signatures.ts';
import { type MailSender, type OutgoingMail, outboxSender } from '../../workers/providers/mail.ts';
import { type Answer, type CallOptions, callApi, password } from './api.ts';
import { ManualClock } from './manual-clock.ts';
import { differencesOf } from './same-events.ts';
import { TestSocket } from './socket.ts';

export { type Answer, type CallOptions, password } from './api.ts';

export interface Person {
  readonly token: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly email: string;
}

export interface Customer {
  readonly token: string;
  readonly visitorId: string;
}

export interface StartOptions extends Partial<Omit<ServeOptions, 'config' | 'clock'>> {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: ServeOptions['clock'];
  /** An existing folder, which the caller removes. */
  readonly dataDir?: string;
}

export interface Mailbox {
  readonly address: string;
  readonly secret: string;
}

/** The part of tap's test object used here. */
export interface Teardown {
  teardown(call: () => void | Promise<void>): void;
}

export class Service {
  readonly running: Running;
  readonly dataDir: string;
  readonly clock: ManualClock;
  readonly #mails: RecordedMails;
  readonly #sockets: TestSocket[] = [];
  /** Agents' sockets that have only received what happened while they were open. */
  readonly #live: TestSocket[] = [];
  #people = 0;

  constructor(running: Running, dataDir: string, clock: ManualClock, mails: RecordedMails) {
    this.running = running;
    this.dataDir = dataDir;
    this.clock = clock;
    this.#mails = mails;
  }

  get url(): string {
    return this.running.url;
  }

  call<Body = any>(method: string, path: string, options: CallOptions = {}): Promise<Answer<Body>> {
    return callApi(this.url, method, path, options);
  }

  get = (path: string, token?: string): Promise<Answer> => this.call('GET', path, { token });
  post = (path: string, body?: unknown, token?: string): Promise<Answer> => this.call('POST', path, { body, token });
  put = (path: string, body?: unknown, token?: string): Promise<Answer> => this.call('PUT', path, { body, token });
  patch = (path: string, body?: unknown, token?: string): Promise<Answer> => this.call('PATCH', path, { body, token });
  delete = (path: string, token?: string): Promise<Answer> => this.call('DELETE', path, { token });

  /**
   * A new workspace with its owner and a site for shop.example. The owner is away, so that no chat is routed to it, and
   * answering assigns nothing unless `assignOnReply`: tests assign explicitly.
   */
  async workspace(
    options: { available?: boolean; assignOnReply?: boolean } = {},
  ): Promise<Person & { siteId: string; embedId: string }> {
    this.#people += 1;
    const email = `owner${this.#people}@example.com`;
    const { body } = await this.post('/auth/register', {
      email,
      password,
      workspaceName: `Shop ${this.#people}`,
      siteUrl: `https://shop${this.#people}.example`,
    });
    const { token, agent } = body;
    if (options.available !== true) await this.post('/me/status', { status: 'away' }, token);
    if (options.assignOnReply !== true) await this.#takeNothing(agent.workspaceId);
    const [site] = (await this.get('/sites', token)).body.sites;
    this.clock.advance(60_000);
    return { token, agentId: agent.id, workspaceId: agent.workspaceId, email, siteId: site.id, embedId: site.embedId };
  }

  /** Invites an agent and redeems the invitation by the code in the mail. The agent is away unless `available`. */
  async agent(
    admin: Person,
    options: { role?: string; channels?: string[]; groupIds?: string[]; available?: boolean; name?: string } = {},
  ): Promise<Person> {
    this.#people += 1;
    const email = `agent${this.#people}@example.com`;
    const {
      role = 'agent',
      channels = ['chats', 'tickets', 'calls'],
      groupIds = [],
      name = `Agent ${this.#people}`,
    } = options;
    const invited = await this.post('/agents/invite', { email, name, role, channels, groupIds }, admin.token);
    const mail = await this.mail(email);
    const code = /\/join\/(\S+)/.exec(mail.text)?.[1];
    const joined = await this.post('/auth/join', { code, password });
    if (options.available !== true) await this.post('/me/status', { status: 'away' }, joined.body.token);
    this.clock.advance(60_000);
    return { token: joined.body.token, agentId: invited.body.id, workspaceId: admin.workspaceId, email };
  }

  /** By a command, which leaves no trace in the audit log. */
  async #takeNothing(workspaceId: string): Promise<void> {
    const change = command('test.takeNothing', (ctx, _: object): void => {
      const workspace = theWorkspace(ctx);
      putWorkspace(ctx, { ...workspace, settings: { ...workspace.settings, assignOnReply: false } });
    });
    await this.running.services.engine.execute(change, { workspaceId, caller: systemCaller, params: {} });
  }

  /** Puts the workspace on a plan, as billing would. */
  async plan(workspaceId: string, plan: PlanId): Promise<void> {
    const change = command('test.plan', (ctx, _: object): void => putWorkspace(ctx, { ...theWorkspace(ctx), plan }));
    await this.running.services.engine.execute(change, { workspaceId, caller: systemCaller, params: {} });
  }

  async customer(embedId: string, said: { name?: string; email?: string } = {}): Promise<Customer> {
    const { body } = await this.post('/widget/sessions', { siteId: embedId, url: 'https://shop.example/', ...said });
    return { token: body.visitorToken, visitorId: body.visitor.id };
  }

  /** A link for a file that a message can name: an agent's, or a customer's. Its bytes are not uploaded. */
  async upload(
    who: { token: string; visitorId?: string },
    file: { filename?: string; contentType?: string; size?: number } = {},
  ): Promise<{ url: string; name: string; size: number }> {
    const { filename = 'a.pdf', contentType = 'application/pdf', size = 10 } = file;
    const { status, body } = await this.post(
      who.visitorId === undefined ? '/uploads/presigned' : '/widget/uploads/presigned',
      { filename, contentType, size },
      who.token,
    );
    if (status !== 200) throw new Error(`a link was refused with ${status}: ${JSON.stringify(body)}`);
    return { url: body.publicUrl, name: filename, size };
  }

  /** An unassigned chat, as agents see it. */
  async chat(
    owner: { token: string; embedId: string },
    text = 'Hello, is anybody there?',
  ): Promise<{ id: string; customer: Customer; version: number }> {
    const customer = await this.customer(owner.embedId);
    const { body } = await this.post('/widget/conversations', { body: text }, customer.token);
    const { id } = body.conversation;
    return { id, customer, version: (await this.conversation(id, owner.token)).version };
  }

  /** The record of a conversation in the queue or just closed, without what only rows have. */
  async conversation(id: string, token: string): Promise<any> {
    const queue = await this.get('/conversations/queue?limit=200', token);
    const closed = await this.get('/conversations/recently-closed', token);
    const row = [...queue.body.conversations, ...closed.body.conversations].find(
      (one: { id: string }) => one.id === id,
    );
    if (row === undefined) return undefined;
    const { customerName: _, ...record } = row;
    return record;
  }

  /** A plain socket, without a token unless `protocols` or `headers` have one. */
  socket(
    namespace: 'agent' | 'visitor',
    options: { query?: string; protocols?: string[]; headers?: Record<string, string> } = {},
  ): TestSocket {
    const socket = new TestSocket(
      `${this.url.replace('http', 'ws')}/${namespace}${options.query ?? ''}`,
      options.protocols ?? ['messaging.v1'],
      options.headers,
    );
    this.#sockets.push(socket);
    return socket;
  }

  /** The workspace's own address for mail, and the secret of its webhook. */
  async mailbox(admin: { token: string }): Promise<Mailbox> {
    const { body } = await this.get('/workspace/integrations', admin.token);
    return body.inboundEmail;
  }

  /** Delivers a mail by webhook, signed like the provider's. */
  deliver(mailbox: Mailbox, mail: Readonly<Record<string, unknown>>): Promise<Answer> {
    const body = JSON.stringify({
      from: 'Carla <carla@customer.example>',
      to: [mailbox.address],
      subject: 'Where is my order?',
      text: 'It is not here yet.',
      ...mail,
    });
    return this.call('POST', '/email/inbound', {
      body,
      headers: { 'X-Signature': signatureOf(body, mailbox.secret), Accept: undefined },
    });
  }

  /** Open and pending tickets, oldest first. */
  async tickets(token: string): Promise<any[]> {
    const { body } = await this.get('/conversations/queue?channel=ticket&limit=200', token);
    return body.conversations.reverse();
  }

  /** A conversation's messages, without the service's own lines. */
  async messages(conversationId: string, token: string): Promise<any[]> {
    const { body } = await this.get(`/conversations/${conversationId}/messages?limit=200`, token);
    return body.messages.filter((message: { senderType: string }) => message.senderType !== 'system');
  }

  /** The newest audit entries of an action. */
  async audited(action: string, token: string): Promise<any[]> {
    const { body } = await this.get('/workspace/audit-log?limit=200', token);
    return body.entries.filter((entry: { action: string }) => entry.action === action);
  }

  /** An agent's socket, ready: the token as subprotocol, `since` in the query. */
  agentSocket(token: string, options: { since?: number } = {}): Promise<TestSocket> {
    return this.#readySocket('agent', token, options);
  }

  visitorSocket(token: string, options: { since?: number } = {}): Promise<TestSocket> {
    return this.#readySocket('visitor', token, options);
  }

  async #readySocket(namespace: 'agent' | 'visitor', token: string, options: { since?: number }): Promise<TestSocket> {
    const socket = await TestSocket.open(`${this.url.replace('http', 'ws')}/${namespace}`, token, options);
    this.#sockets.push(socket);
    if (namespace === 'agent' && options.since === undefined) this.#live.push(socket);
    return socket;
  }

  /** Throws if a socket received what the AsyncAPI document does not declare. */
  requireSoundFrames(): void {
    for (const { problem } of this.#sockets) if (problem !== undefined) throw new Error(problem);
  }

  /** How events differ by now from those that agents received. None, after every test of the suite. */
  changedEvents(): string[] {
    return differencesOf(this.#live, [...this.running.services.engine.openWorkspaces()]);
  }

  /** Throws if the reports differ from the conversations. Checked after every test of the suite. */
  requireSoundReports(): void {
    for (const { workspaceId, db } of this.running.services.engine.openWorkspaces()) {
      for (const difference of verifyReports(db)) throw new Error(`reports of ${workspaceId}: ${difference}`);
    }
  }

  /** The next mail to this address that no call has returned yet. */
  mail(to: string): Promise<OutgoingMail> {
    return this.#mails.next(to);
  }

  mailCount(to: string): number {
    return this.#mails.count(to);
  }

  /** The last mail to this address, whether or not a call has returned it. */
  newestMail(to: string): OutgoingMail | undefined {
    return this.#mails.newest(to);
  }

  /** Moves the time, and waits until everything due is done and durable. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }

  /** Resolves when no command and no outside work is pending. */
  async settled(): Promise<void> {
    const { engine } = this.running.services;
    for (let quiet = 0, rounds = 0; quiet < 3; rounds += 1) {
      await Promise.all([...engine.openWorkspaces()].map((workspace) => workspace.drained()));
      // Long work is done by threads and processes, which need the core that polling would take.
      await new Promise((resolve) => (rounds < 50 ? setImmediate(resolve) : setTimeout(resolve, 0)));
      const { laneDepth, outboxUnderWay, filesWaiting } = engine.figures;
      quiet = laneDepth === 0 && outboxUnderWay === 0 && filesWaiting === 0 ? quiet + 1 : 0;
    }
  }

  /** The mails in the outbox folder, raw. */
  async outbox(): Promise<string[]> {
    const folder = join(this.dataDir, 'outbox');
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'));
    return Promise.all(names.sort().map((name) => readFile(join(folder, name), 'utf8')));
  }

  async stop(): Promise<void> {
    await this.running.stop();
  }
}

/** Starts a service; it and its folder are removed after the test. */
export async function startService(t: Teardown, options: StartOptions = {}): Promise<Service> {
  const { env, clock: _, mail, dataDir: given, ...rest } = options;
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'switchboard-'));
  const clock = options.clock instanceof ManualClock ? options.clock : new ManualClock();
  const mails = new RecordedMails(mail ?? outboxSender(join(dataDir, 'outbox')));
  const config = readConfig({
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: '0',
    BASE_URL: 'http://switchboard.test',
    ...env,
  });
  const running = await serve({
    config,
    log: silentLog,
    clock: options.clock ?? clock,
    checkReplies: true,
    mail: mails,
    ...rest,
  });
  const service = new Service(running, dataDir, clock, mails);
  t.teardown(async () => {
    service.requireSoundReports();
    const changed = service.changedEvents();
    await running.stop();
    if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
    service.requireSoundFrames();
    if (changed.length > 0) throw new Error(changed.join('\n'));
  });
  return service;
}

/** The real outbox folder, with a record of its mails. */
class RecordedMails implements MailSender {
  readonly #inner: MailSender;
  readonly #sent = new Map<string, OutgoingMail[]>();
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(inner: MailSender) {
    this.#inner = inner;
  }

  async send(mail: OutgoingMail): Promise<string> {
    const answer = await this.#inner.send(mail);
    this.#sent.set(mail.to, [...(this.#sent.get(mail.to) ?? []), mail]);
    for (const call of this.#waiting.get(mail.to) ?? []) call();
    this.#waiting.delete(mail.to);
    return answer;
  }

  close(): void {
    this.#inner.close();
  }

  count(to: string): number {
    return this.#sent.get(to)?.length ?? 0;
  }

  newest(to: string): OutgoingMail | undefined {
    return this.#sent.get(to)?.at(-1);
  }

  async next(to: string): Promise<OutgoingMail> {
    const index = this.#taken.get(to) ?? 0;
    this.#taken.set(to, index + 1);
    for (;;) {
      const mail = this.#sent.get(to)?.[index];
      if (mail !== undefined) return mail;
      await new Promise<void>((resolve) => this.#waiting.set(to, [...(this.#waiting.get(to) ?? []), resolve]));
    }
  }
}
