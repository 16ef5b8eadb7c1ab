// Upload and download of files. Uploads use a signed link, and its limits are checked while the bytes arrive. Downloads
// are open to anyone who knows the address, whole or in part, and are served so that a browser never runs them.
// Specification 4.9, RFC 9110 §14.

import { createHash, type Hash } from 'node:crypto';
import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type Engine, WorkspaceUnavailable } from '../../engine/runtime/engine.ts';
import {
  acceptedType,
  isBorneOut,
  isUnknownType,
  servedType,
  telltaleBytes,
  unrunnable,
} from '../../engine/workspace/media-types.ts';
import {
  abandonUpload,
  beginUpload,
  continueUpload,
  nameOfUpload,
  progressBytes,
  settleUpload,
} from '../../engine/workspace/uploads.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';
import { dispositionOf } from '../browser/file-names.ts';
import { networkOf } from '../limits/network-address.ts';
import type { RawReply } from '../request.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';

const tag = 'Storage';
const path = '//storage/{workspaceId}/{kind}/{uploadId}/{filename}';
const Key = Type.Object({
  workspaceId: Type.String(),
  kind: Type.String(),
  uploadId: Type.String(),
  filename: Type.String(),
});
const Signed = Type.Object({
  type: Type.Optional(Type.String()),
  size: Type.Optional(Type.String()),
  expires: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
});
/**
 * A key's object never changes, so it can be cached without revalidation. It may belong to a private chat, so shared
 * caches must not keep it.
 */
const cacheControl = 'private, max-age=31536000, immutable';
/** An upload's deadline is extended at most this often; well below its grace. */
const continueEveryMs = 60_000;
const notOurs = 'This link is not valid or has expired.';

export const storageRoutes = [
  route({
    operation: 'storage.put',
    method: 'PUT',
    path,
    tag,
    summary: 'Upload a file',
    description:
      'The `uploadUrl` of a presigned upload. ' +
      'Content-Type must be the signed one (otherwise `content_type_not_allowed`), ' +
      'Content-Length at most the signed size (`file_too_large`), and the bytes must be of that type. ' +
      'Returns `forbidden` if the link was altered or has expired. ' +
      'Uploading the same bytes again returns the first reply; other bytes return `conflict`. ' +
      'A refused upload stores nothing, and the link can be used again.',
    access: { kind: 'public' },
    takesRoom: 'files',
    anyHeaders: true,
    httpOnly: true,
    params: Key,
    query: Signed,
    reply: { status: 200, schema: null },
    refusals: ['content_type_not_allowed', 'file_too_large', 'forbidden', 'conflict', 'storage_not_configured'],
    async receive({ params, query, headers, ip, body }, services) {
      const { engine, objects, uploadLinks, clock } = services;
      if (objects === undefined) refuse('storage_not_configured');
      const key = keyOf(params);
      const signed = uploadLinks.verify(key, query, clock.now()) ?? refuse('forbidden', { message: notOurs });
      await engine.whenOpen(params.workspaceId);
      // The workspace was erased after the link was issued.
      if (engine.workspace(params.workspaceId) === undefined) refuse('forbidden', { message: notOurs });
      if (!isOfType(headers['content-type'] ?? '', signed.contentType))
        refuseField('content_type_not_allowed', 'Content-Type', `must be ${signed.contentType}`);
      const size = lengthOf(headers['content-length']) ?? refuseField('invalid_body', 'Content-Length', 'is required');
      if (size > signed.size)
        refuse('file_too_large', {
          message: `The link allows ${signed.size} bytes.`,
          detail: { maxBytes: signed.size },
        });
      const { workspaceId, uploadId } = params;
      return engine.actOutside(workspaceId, () =>
        store({ objects, key, workspaceId, uploadId, size, sender: networkOf(ip), body }, services),
      );
    },
  }),

  route({
    operation: 'storage.read',
    method: 'GET',
    path,
    tag,
    summary: 'Read a file',
    description: 'The `publicUrl` of an upload. Supports Range (206, 416) and If-None-Match (304).',
    access: { kind: 'public' },
    anyHeaders: true,
    httpOnly: true,
    params: Key,
    reply: { status: 200, schema: null, contentType: '*/*' },
    otherReplies: {
      206: { description: 'The requested range.', contentType: '*/*' },
      304: { description: 'If-None-Match matches the current version.' },
      416: { description: 'The range is outside the file.' },
    },
    refusals: ['storage_not_configured'],
    async send({ params, headers }, { engine, objects }) {
      if (objects === undefined) refuse('storage_not_configured');
      const key = keyOf(params);
      const { size } = (await objects.find(key)) ?? refuse('not_found');
      const etag = etagOf(params.uploadId);
      await engine.whenOpen(params.workspaceId);
      const about = { ...headersOf(key, nameIn(engine, params.workspaceId, key)), ETag: etag };
      const whole = { byteLength: size, parts: objects.read(key, { start: 0, end: size - 1 }) };
      if (names(headers['if-none-match'], etag)) return { status: 304, headers: about, body: whole };
      const condition = headers['if-range'];
      const range = condition === undefined || condition === etag ? rangeOf(headers['range'], size) : undefined;
      if (range === 'unsatisfiable')
        return {
          status: 416,
          headers: { ...about, 'Cache-Control': 'no-store', 'Content-Range': `bytes */${size}` },
          body: '',
        };
      const part = range ?? { start: 0, end: size - 1 };
      const reply: RawReply = {
        status: 200,
        headers: about,
        body: { byteLength: part.end - part.start + 1, parts: objects.read(key, part) },
      };
      return range === undefined
        ? reply
        : {
            ...reply,
            status: 206,
            headers: { ...about, 'Content-Range': `bytes ${range.start}-${range.end}/${size}` },
          };
    },
  }),
];

interface Sent {
  readonly objects: ObjectStore;
  readonly key: string;
  readonly workspaceId: string;
  readonly uploadId: string;
  readonly size: number;
  readonly sender: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Refuses as the route. */
async function store(
  { objects, key, workspaceId, uploadId, size, sender, body }: Sent,
  services: Services,
): Promise<RawReply> {
  const { engine, clock } = services;
  const change = { workspaceId, caller: systemCaller };
  const upload = await engine.execute(beginUpload, { ...change, params: { uploadId } });
  const hash = createHash('sha256');
  const reply: RawReply = { status: 200, headers: { ETag: etagOf(uploadId) }, body: '' };
  if (upload.state === 'stored') {
    // A client that received no reply sends the same again.
    if (size === upload.size) for await (const part of body) hash.update(part);
    return hash.digest('hex') === upload.sha256
      ? reply
      : refuse('conflict', { message: 'Another file was uploaded with this link.' });
  }
  try {
    await objects.put(
      key,
      { contentType: upload.contentType, size, sender },
      hashed(
        borneOut(
          continued(body, clock, () => engine.execute(continueUpload, { ...change, params: { uploadId } })),
          upload.contentType,
          services,
        ),
        hash,
      ),
    );
  } catch (error) {
    await engine.execute(abandonUpload, { ...change, params: { uploadId } });
    throw error;
  }
  try {
    await engine.execute(settleUpload, { ...change, params: { uploadId, size, sha256: hash.digest('hex') } });
  } catch (error) {
    await objects.remove(key);
    throw error;
  }
  return reply;
}

function keyOf({
  workspaceId,
  kind,
  uploadId,
  filename,
}: {
  workspaceId: string;
  kind: string;
  uploadId: string;
  filename: string;
}): string {
  return `${workspaceId}/${kind}/${uploadId}/${filename}`;
}

/** Undefined if unknown; files are served even while their workspace cannot be read. */
function nameIn(engine: Engine, workspaceId: string, key: string): string | undefined {
  try {
    const view = engine.workspace(workspaceId)?.view(systemCaller);
    return view && nameOfUpload(view, key);
  } catch (error) {
    if (error instanceof WorkspaceUnavailable) return undefined;
    throw error;
  }
}

/** A store needs the size before the content. */
function lengthOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** Passes the bytes through; calls `goOn` at most once a minute while enough of them arrive. */
async function* continued(
  body: AsyncIterable<Uint8Array>,
  clock: Clock,
  goOn: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0;
  let continuedMs = clock.now();
  for await (const part of body) {
    length += part.byteLength;
    if (length >= progressBytes && clock.now() - continuedMs >= continueEveryMs) {
      await goOn();
      length = 0;
      continuedMs = clock.now();
    }
    yield part;
  }
}

/** Passes the bytes through; fails with content_type_not_allowed as soon as the first bytes show another type. */
async function* borneOut(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  { recognise }: Services,
): AsyncGenerator<Uint8Array, void, void> {
  let head: Uint8Array[] | undefined = [];
  let length = 0;
  const requireBorneOut = async ([first, ...rest]: readonly Uint8Array[]): Promise<void> => {
    const bytes = first === undefined ? new Uint8Array(0) : rest.length === 0 ? first : Buffer.concat([first, ...rest]);
    if (!isBorneOut(contentType, await recognise(bytes)))
      refuse('content_type_not_allowed', { message: `The file is not ${contentType}.` });
  };
  for await (const part of body) {
    if (head === undefined) {
      yield part;
      continue;
    }
    head.push(part);
    length += part.byteLength;
    if (length < telltaleBytes) continue;
    await requireBorneOut(head);
    yield* head;
    head = undefined;
  }
  if (head === undefined) return;
  await requireBorneOut(head);
  yield* head;
}

/** Passes the bytes through and adds them to the hash. */
async function* hashed(parts: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array, void, void> {
  for await (const part of parts) {
    hash.update(part);
    yield part;
  }
}

/** True for the type that the link was issued for, in any spelling. */
function isOfType(given: string, signed: string): boolean {
  return isUnknownType(signed) ? isUnknownType(given) : acceptedType(given) === signed;
}

/** `name`: the file name people see, if known. */
function headersOf(key: string, name: string | undefined): Record<string, string> {
  const type = servedType(key);
  const isShown = /^(?:image|audio|video)\//.test(type);
  const plainName = unrunnable(key.split('/').at(-1) ?? '');
  return {
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'Content-Disposition': dispositionOf({ name: name ?? plainName, plainName, isShown }),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': cacheControl,
    'Accept-Ranges': 'bytes',
  };
}

function etagOf(uploadId: string): string {
  return `"${uploadId}"`;
}

function names(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag) === true;
}

/**
 * One range of bytes. Undefined means the whole file: for several ranges at once, and for malformed ones (RFC 9110
 * §14.2 allows it).
 */
function rangeOf(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '')
    return last === '0' || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
