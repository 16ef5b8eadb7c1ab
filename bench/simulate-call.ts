// `npm run simulate:call`: rings a workspace from the terminal. Plays the carrier and the caller against a running
// server by the signed webhook that carriers use, and prints the events that its agents get. An ordinary client.

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { signatureOf } from '../http/signed/signatures.ts';

const usage = `Rings a number of a workspace, as a caller would.

  npm run simulate:call -- --email you@example.com --password '…' [options]

  --url            the server (http://localhost:8080)
  --email, --password, or --token    an admin of the workspace
  --to             the number to ring; without it the newest one, and one is claimed if there is none
  --from           the caller's number (+14155550123)
  --hang-up-after  seconds after which the caller hangs up; without it the caller waits
  --say            what the caller leaves as a voicemail
  --answer         let this admin answer, hold, resume and hang up by itself
  --pace           seconds between those steps (1)

Ctrl-C is the caller hanging up.
`;

interface CallEvent {
  readonly eventType: string;
  readonly createdAt: string;
  readonly [detail: string]: unknown;
}

interface Call {
  readonly id: string;
  readonly status: string;
  readonly state: string;
  readonly ringingAgentIds: readonly string[];
  readonly events: readonly CallEvent[];
}

interface Frame {
  readonly type: string;
  readonly at?: string;
  readonly conversationId?: string;
  readonly data?: { readonly call?: Call; readonly message?: { readonly senderType: string; readonly body: string } };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

class Server {
  readonly #url: string;
  #token = '';

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  async ask<Body>(method: 'GET' | 'POST', path: string, body?: object): Promise<Body> {
    const headers: Record<string, string> = {
      Accept: 'application/json',
      ...(this.#token === '' ? {} : { Authorization: `Bearer ${this.#token}` }),
    };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as Body & { message?: string };
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.message ?? ''}`);
    return answer;
  }

  async signIn(credentials: {
    token: string | undefined;
    email: string | undefined;
    password: string | undefined;
  }): Promise<void> {
    const { token, email, password } = credentials;
    this.#token = token ?? (await this.ask<{ token: string }>('POST', '/auth/login', { email, password })).token;
  }

  /** Delivers like a carrier. Resolves to the call's conversation. */
  async deliver(event: object, secret: string): Promise<string> {
    const body = JSON.stringify(event);
    const response = await fetch(`${this.#url}/api/v1/carrier/events`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', 'X-Signature': signatureOf(Buffer.from(body), secret) },
    });
    const answer = (await response.json()) as { conversationId?: string | null; message?: string };
    if (!response.ok || answer.conversationId == null)
      throw new Error(`the event was not taken: ${response.status} ${answer.message ?? 'the number is released'}`);
    return answer.conversationId;
  }

  /** Receives the agents' events from now on. */
  async listen(told: (frame: Frame) => void): Promise<() => void> {
    const socket = new WebSocket(`${this.#url.replace(/^http/, 'ws')}/agent`, [
      'messaging.v1',
      `bearer.${this.#token}`,
    ]);
    await new Promise<void>((ready, failed) => {
      socket.addEventListener('message', () => ready(), { once: true });
      socket.addEventListener('close', ({ code }) => failed(new Error(`the socket closed with ${code}`)), {
        once: true,
      });
    });
    socket.addEventListener('message', ({ data }) => told(JSON.parse(String(data)) as Frame));
    return () => socket.close();
  }
}

const options = {
  url: { type: 'string', default: 'http://localhost:8080' },
  email: { type: 'string' },
  password: { type: 'string' },
  token: { type: 'string' },
  to: { type: 'string' },
  from: { type: 'string', default: '+14155550123' },
  'hang-up-after': { type: 'string' },
  say: { type: 'string', default: 'Hello, please call me back.' },
  answer: { type: 'boolean', default: false },
  pace: { type: 'string', default: '1' },
  help: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help || (values.token === undefined && (values.email === undefined || values.password === undefined))) {
    say(usage);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const server = new Server(values.url);
  await server.signIn({ token: values.token, email: values.email, password: values.password });
  const { carrier } = await server.ask<{ carrier: { secret: string } }>('GET', '/workspace/integrations');
  const call = {
    callId: `simulated-${crypto.randomUUID()}`,
    from: values.from,
    to: values.to ?? (await numberToRing(server)),
  };
  const deliver = (event: object): Promise<string> => server.deliver({ ...call, ...event }, carrier.secret);

  const line = new Line();
  const close = await server.listen((frame) => line.tell(frame));
  const hangUp = (): void => void deliver({ type: 'ended' }).catch(line.fail);
  let patience: NodeJS.Timeout | undefined;
  try {
    say(`${call.from} rings ${call.to}`);
    line.follow(await deliver({ type: 'ringing' }));
    process.once('SIGINT', hangUp);
    if (values['hang-up-after'] !== undefined) patience = setTimeout(hangUp, Number(values['hang-up-after']) * 1000);
    line.onVoicemail = () =>
      void deliver({ type: 'voicemail_left', durationMs: 3000, transcript: values.say }).then(hangUp, line.fail);
    if (values.answer) talk(server, line, Number(values.pace) * 1000).catch(line.fail);
    await line.over;
    await printTimeline(server, line.conversationId);
  } finally {
    clearTimeout(patience);
    close();
  }
}

async function printTimeline(server: Server, conversationId: string): Promise<void> {
  const { events, status } = await server.ask<Call>('GET', `/calls/${conversationId}`);
  say(`\nThe call is ${status}. Its timeline:`);
  for (const { eventType, createdAt, ...detail } of events)
    say(`  ${createdAt}  ${eventType}${Object.keys(detail).length === 0 ? '' : ` ${JSON.stringify(detail)}`}`);
}

/** Prints the agents' events of one call. */
class Line {
  conversationId = '';
  readonly over: Promise<void>;
  onVoicemail: () => void = () => {};
  fail: (error: unknown) => void = () => {};
  #end: () => void = () => {};
  /** Events received before the call's id was known. */
  #early: Frame[] = [];

  constructor() {
    this.over = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.fail = reject;
    });
  }

  follow(conversationId: string): void {
    this.conversationId = conversationId;
    const early = this.#early;
    this.#early = [];
    for (const frame of early) this.tell(frame);
  }

  tell(frame: Frame): void {
    if (this.conversationId === '') {
      this.#early.push(frame);
      return;
    }
    if (frame.conversationId !== this.conversationId) return;
    const { call, message } = frame.data ?? {};
    const shown =
      call === undefined
        ? message === undefined
          ? ''
          : `${message.senderType}: ${message.body}`
        : `${call.state}${call.ringingAgentIds.length === 0 ? '' : `, rings ${call.ringingAgentIds.length}`}`;
    say(`  ${frame.at}  ${frame.type}  ${shown}`);
    if (frame.type === 'call.ringing' && call?.state === 'voicemail') this.onVoicemail();
    if (frame.type === 'call.ended') this.#end();
  }
}

/** The admin answers the call. */
async function talk(server: Server, line: Line, paceMs: number): Promise<void> {
  for (const [step, body] of [['answer'], ['hold', { hold: true }], ['hold', { hold: false }], ['hangup']] as const) {
    await pause(paceMs);
    await server.ask('POST', `/calls/${line.conversationId}/${step}`, body);
  }
}

async function numberToRing(server: Server): Promise<string> {
  const { numbers } = await server.ask<{ numbers: { e164: string }[] }>('GET', '/phone-numbers?limit=1');
  if (numbers[0] !== undefined) return numbers[0].e164;
  const { available } = await server.ask<{ available: { e164: string }[] }>('POST', '/phone-numbers/available', {
    areaCode: '415',
    limit: 1,
  });
  if (available[0] === undefined) throw new Error('there is no number to be had');
  const claimed = await server.ask<{ e164: string }>('POST', '/phone-numbers', {
    e164: available[0].e164,
    displayName: 'Claimed to try it',
    routingStrategy: 'all_agents',
  });
  say(`claimed ${claimed.e164} for it`);
  return claimed.e164;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`simulate:call: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
