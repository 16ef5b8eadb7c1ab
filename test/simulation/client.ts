// A client with a socket, an agent's or a customer's. It may stop reading, lose its connection and resume with the last
// event it has seen. It compares what it received with what it should have received.

import { type Connection, closeCodes, type Session } from '../../http/sockets/session.ts';
import type { EventRow } from '../../store/runtime/events.ts';
import type { Answer, Machine } from './machine.ts';

/** The identity that decides which events it receives. Read when it connects; a later change ends the connection. */
export interface Person {
  readonly id: string;
  readonly namespace: 'agent' | 'visitor';
  readonly isAdmin: boolean;
  readonly channels: readonly string[];
  readonly departmentIds: readonly string[];
  /** The newest event from before it joined; 0 for customers. */
  readonly joinedSeq: number;
}

/** The weight of an unread byte, so that a few messages fill a buffer of a megabyte. */
const byteWeight = 40;
/** A client further behind may be closed. */
const maxUnreadBytes = 1024 * 1024;
const channelNames: Readonly<Record<string, string>> = { chat: 'chats', ticket: 'tickets', call: 'calls' };

class Line implements Connection {
  /** Sent by the service and not read yet. */
  unread: string[] = [];
  /** Numbered events that were sent, read or not. */
  readonly sent: number[] = [];
  readonly expected: number[] = [];
  /** Of these, events that may be withheld when it resumes, by what the agent may read then. */
  readonly withheld = new Set<number>();
  expectedUpTo = 0;
  /** The number after which its events start, once connected. */
  startSeq: number | undefined;
  /** It gave the last event that it had seen. */
  readonly isBack: boolean;
  closedWith: { readonly code: number; readonly unreadBytes: number } | undefined;
  /** The connection is lost: anything sent is dropped. */
  isCut = false;
  readonly #onSend: (frame: Frame) => void;

  constructor(isBack: boolean, onSend: (frame: Frame) => void) {
    this.isBack = isBack;
    this.#onSend = onSend;
  }

  send(message: string | Uint8Array): void {
    if (this.isCut) return;
    const text = typeof message === 'string' ? message : Buffer.from(message).toString();
    const frame = JSON.parse(text);
    this.unread.push(text);
    if (frame.type === 'ready') this.startSeq = frame.seq;
    else if (frame.seq !== undefined && frame.type !== 'resync') this.sent.push(frame.seq);
    this.#onSend(frame);
  }

  together(write: () => void): void {
    write();
  }

  bufferedBytes(): number {
    return this.unread.reduce((sum, text) => sum + text.length * byteWeight, 0);
  }

  inTurn(work: () => void): void {
    work();
  }

  end(code: number): void {
    this.closedWith = { code, unreadBytes: this.bufferedBytes() };
  }
}

interface Frame {
  readonly type: string;
  readonly seq?: number;
}

export class Client {
  token: string;
  readonly readPerson: () => Person;
  readonly #isWrong: (text: string) => void;
  person: Person;
  isReading = true;
  /** The newest event it has read, over all its connections. */
  lastSeq: number | undefined;
  /** Its access was revoked: its connections may be closed for that. */
  isShutOut = false;
  #line: Line | undefined;
  #session: Session | undefined;
  #lastId = 0;
  readonly #calls = new Map<number, (answer: Answer) => void>();

  constructor(token: string, options: { readPerson: () => Person; isWrong: (text: string) => void }) {
    this.token = token;
    this.readPerson = options.readPerson;
    this.#isWrong = options.isWrong;
    this.person = options.readPerson();
  }

  get isConnected(): boolean {
    return this.#line !== undefined;
  }

  /** It was welcomed, and neither side has closed it. */
  get isEstablished(): boolean {
    return this.#line?.startSeq !== undefined && this.#line.closedWith === undefined;
  }

  connect(machine: Machine, workspaceId: string): void {
    this.person = this.readPerson();
    const since = this.lastSeq;
    const line: Line = new Line(since !== undefined, (frame) => {
      const durable = machine.durableSeqs.get(workspaceId) ?? 0;
      if (line.closedWith !== undefined) this.#isWrong(`${frame.type} was sent after the close`);
      if (frame.seq !== undefined && frame.seq > durable)
        this.#isWrong(`${frame.type} ${frame.seq} was sent when only ${durable} were durable`);
      if (frame.type === 'resync') this.#isWrong('told to start over, though nothing was evicted');
      if (frame.type === 'ready' && since !== undefined && frame.seq !== since)
        this.#isWrong(`asked to go on after ${since}, was welcomed at ${frame.seq}`);
    });
    this.#line = line;
    this.#session = machine.parts.sockets.open(line, {
      namespace: this.person.namespace,
      token: this.token,
      since: since === undefined ? undefined : String(since),
      ip: '127.0.0.1',
      network: '127.0.0.1',
      userAgent: null,
      origin: undefined,
    });
  }

  /** The connection or the machine fails: unread frames are lost, and no answer arrives. */
  drop(machine?: Machine): void {
    if (this.#session !== undefined) machine?.parts.sockets.closed(this.#session);
    if (this.#line !== undefined) this.#line.isCut = true;
    this.#line = undefined;
    this.#session = undefined;
    this.#calls.clear();
  }

  /** False if it has no established connection. */
  call(machine: Machine, method: string, params: object, answered: (answer: Answer) => void): boolean {
    if (this.#session === undefined || !this.isEstablished) return false;
    this.#lastId += 1;
    this.#calls.set(this.#lastId, answered);
    const bytes = Buffer.from(JSON.stringify({ id: this.#lastId, type: 'call', method, params }));
    machine.parts.sockets.receive(this.#session, bytes, false);
    return true;
  }

  /** Reads what was sent. True if there was anything. */
  read(machine: Machine): boolean {
    const line = this.#line;
    if (line === undefined || this.#session === undefined || !this.isReading || line.unread.length === 0) return false;
    for (const text of line.unread.splice(0)) {
      const frame = JSON.parse(text);
      if (frame.type === 'reply') {
        this.#calls.get(frame.id)?.({ status: frame.status, body: frame.body });
        this.#calls.delete(frame.id);
      } else if (frame.seq !== undefined) this.lastSeq = frame.seq;
    }
    machine.parts.sockets.drained(this.#session);
    return true;
  }

  /** Every public event so far, in order: records those it should have received. */
  expect(events: readonly EventRow[]): void {
    const line = this.#line;
    if (line?.startSeq === undefined) return;
    line.expectedUpTo = Math.max(line.expectedUpTo, line.startSeq);
    // The sequence has no gap, so the event after the nth is at index n.
    for (const event of events.slice(line.expectedUpTo)) {
      line.expectedUpTo = event.seq;
      if (!maySee(this.person, event)) continue;
      line.expected.push(event.seq);
      if (line.isBack && mayBeWithheld(this.person, event)) line.withheld.add(event.seq);
    }
  }

  /** Compares what it received with what it should have. Throws. */
  check(name: string): void {
    const line = this.#line;
    if (line === undefined) return;
    const { sent } = line;
    const told = new Set(sent);
    const expected = line.expected.filter((seq) => told.has(seq) || !line.withheld.has(seq));
    const wrong = sent.findIndex((seq, index) => seq !== expected[index]);
    if (wrong >= 0)
      throw new Error(
        `${name} was sent event ${sent[wrong]} where ${expected[wrong]} was due; sent ${sent.slice(-8).join(' ')}, due ${expected.slice(-8).join(' ')}`,
      );
    const isUpToDate = line.closedWith === undefined && line.unread.length === 0;
    if (isUpToDate && sent.length < expected.length)
      throw new Error(`${name} was not sent events ${expected.slice(sent.length).join(' ')}`);
    if (line.closedWith === undefined) return;
    this.#checkClose(name, line.closedWith);
    this.drop();
  }

  #checkClose(name: string, { code, unreadBytes }: { code: number; unreadBytes: number }): void {
    const isDeserved =
      code === closeCodes.tooSlow
        ? unreadBytes > maxUnreadBytes
        : (code === closeCodes.unauthorized || code === closeCodes.forbidden) && this.isShutOut;
    if (!isDeserved) throw new Error(`${name} was closed with ${code}, with ${unreadBytes} bytes unread`);
  }
}

/** Missed events of a conversation that left its reach, and those from before the agent joined. */
function mayBeWithheld({ namespace, isAdmin, joinedSeq }: Person, event: EventRow): boolean {
  return (
    namespace === 'agent' &&
    (event.seq <= joinedSeq || (!isAdmin && JSON.parse(event.audience).kind === 'conversation'))
  );
}

/** The rule of who receives an event, implemented a second time. */
export function maySee(person: Person, event: EventRow): boolean {
  const audience = JSON.parse(event.audience);
  if (person.namespace === 'visitor') return audience.kind === 'conversation' && audience.visitorId === person.id;
  if (audience.kind === 'workspace') return true;
  if (audience.kind === 'agent') return audience.agentId === person.id;
  if (!person.isAdmin && !person.channels.includes(channelNames[audience.channel] ?? '')) return false;
  if (audience.kind === 'channel' || person.isAdmin) return true;
  return (
    audience.agentIds.includes(person.id) ||
    audience.departmentIds.some((id: string | null) => id === null || person.departmentIds.includes(id))
  );
}
