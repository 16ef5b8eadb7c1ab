// Mail by SMTP on its way to the node that serves its recipients: one request, whose body is a line of JSON with the
// recipients and the envelope, and then the mail as it arrived, from a file to a file. Only a node can make it, and the
// node that gets it never sends it on. Used by node.ts.

import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { refuse } from '../../engine/errors.ts';
import { isElsewhere } from '../../engine/runtime/placement.ts';
import { Unavailable } from '../../workers/failures.ts';
import type { ReceivedMail } from '../../workers/providers/smtp-listener.ts';
import type { MailOutcome } from '../delivery/arriving-mail.ts';
import type { Reply } from '../request.ts';
import { type Route, route } from '../route.ts';
import type { ForwardedRequest } from './forwarding.ts';

export interface MailFromNodes {
  /** For mails being received. */
  readonly folder: string;
  readonly maxMailBytes: number;
  /** Rejects if the sender should retry. */
  receive(mail: ReceivedMail): Promise<MailOutcome>;
}

type Envelope = Omit<ReceivedMail, 'path'>;

const mailPath = '/node/mail';
/** A hundred recipients, each in a line of SMTP at most. */
const maxEnvelopeBytes = 256 * 1024;
const lineEnd = '\n';

/** What became of it at the other node. Rejects if nobody knows, or if the sender should retry. */
export async function sendMail(
  forward: (request: ForwardedRequest) => Promise<Reply>,
  mail: ReceivedMail,
): Promise<MailOutcome> {
  const { status, body } = await forward(await requestOf(mail));
  const text = await textOf(body);
  if (status !== 200) throw new Unavailable(`the mail's node answered with ${status}`);
  // Written by the route below.
  return JSON.parse(text) as MailOutcome;
}

/** The other end: refuses service_unavailable if it should be sent again. */
export function mailRoute({ folder, maxMailBytes, receive }: MailFromNodes): Route {
  let emptied: Promise<unknown> | undefined;
  return route({
    operation: 'node.mail',
    method: 'POST',
    path: `/${mailPath}`,
    tag: 'Nodes',
    summary: 'Take a mail that arrived at another node',
    access: { kind: 'public' },
    anyHeaders: true,
    httpOnly: true,
    reply: { status: 200, schema: null, contentType: 'application/json' },
    refusals: [],
    async receive({ body }) {
      // What a crash left was never acknowledged.
      await (emptied ??= empty(folder));
      const own = await mkdtemp(join(folder, 'mail-'));
      try {
        const path = join(own, 'mail.eml');
        const envelope = await store(body, { path, maxBytes: maxMailBytes });
        const outcome = await receive({ ...envelope, path });
        return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(outcome) };
      } catch (error) {
        // Its workspace has moved on: whoever sent the mail asks again where to.
        if (isElsewhere(error)) refuse('service_unavailable');
        throw error;
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    },
  });
}

async function requestOf({ path, recipients, envelope }: ReceivedMail): Promise<ForwardedRequest> {
  const first = Buffer.from(JSON.stringify({ recipients, envelope } satisfies Envelope) + lineEnd);
  const { size } = await stat(path);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* createReadStream(path);
  }
  return {
    head: {
      method: 'POST',
      path: mailPath,
      query: '',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(first.byteLength + size) },
      ip: envelope.remoteAddress,
      startedMs: performance.now(),
    },
    requestId: randomUUID(),
    body: body(),
  };
}

/** Writes the mail to the file. Refuses invalid_body, payload_too_large. */
async function store(
  body: AsyncIterable<Uint8Array>,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Envelope> {
  const parts = body[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (!first.includes(lineEnd)) {
    const { value, done } = await parts.next();
    if (done === true || first.byteLength > maxEnvelopeBytes) refuse('invalid_body');
    first = Buffer.concat([first, value]);
  }
  const end = first.indexOf(lineEnd);
  async function* mail(): AsyncGenerator<Uint8Array> {
    let part: Uint8Array = first.subarray(end + lineEnd.length);
    for (let bytes = part.byteLength; ; bytes += part.byteLength) {
      if (bytes > maxBytes) refuse('payload_too_large');
      yield part;
      const next = await parts.next();
      if (next.done === true) return;
      part = next.value;
    }
  }
  await pipeline(mail(), createWriteStream(path, { mode: 0o600 }));
  // Signed by a node, so of the form that requestOf() writes.
  return JSON.parse(first.subarray(0, end).toString()) as Envelope;
}

async function empty(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

async function textOf(body: Reply['body']): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const parts: Uint8Array[] = [];
  for await (const part of 'parts' in body ? body.parts : body) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}
