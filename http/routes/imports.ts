// Jobs that move conversations in from another system: from a service by its API, or from an mbox file that is received
// here in parts. What a job reads and writes is in engine/imports/.

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import {
  createImport,
  fileGone,
  listImports,
  maxImportJobs,
  type NewImport,
  receiveImport,
  removeImport,
  requireImport,
  requireNextPart,
  resumeImport,
  stopImport,
} from '../../engine/imports/jobs.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { requireAdmin } from '../../engine/workspace/access.ts';
import { requireFeature } from '../../engine/workspace/entitlements.ts';
import { type ImportJobRecord, ImportJobView, ImportKind } from '../../store/imports/jobs.ts';
import type { DiskTurns } from '../../workers/providers/disk-turns.ts';
import { importKeyName } from '../delivery/import-keys.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Email, Id, line, nullable, TypedUrl } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const tag = 'Imports';
const access = { kind: 'agent', scope: null, role: 'admin' } as const;
const ById = Type.Object({ importId: Id });
const Token = Type.String({
  minLength: 1,
  maxLength: 2000,
  pattern: worded('^[\\x21-\\x7e]+$', 'a token without spaces'),
});

/** Of a request: a slow line sends it in a minute, and a broken one loses little. */
const maxPartBytes = 8 * 1024 * 1024;
/** Of a file: decades of a busy mailbox. */
const maxFileBytes = 64 * 1024 ** 3;

/** Where a service's API is, if it is the same for everyone. */
const places = {
  chatwoot: null,
  zendesk: null,
  intercom: 'https://api.intercom.io',
  helpscout: 'https://api.helpscout.net',
};
/** What the account is called there; null if the token is enough. */
const accounts = {
  chatwoot: "must be the account's number, as in the addresses of its pages",
  zendesk: "must be the email address of the token's user",
  intercom: null,
  helpscout: "must be the app's id",
};

/** The disk is also the databases': a file is made durable in pieces of this size, with rests between them. */
const syncBytes = 1024 * 1024;

/** Files that a request is writing to. */
const inUse = new Set<string>();

export const importRoutes = [
  route({
    operation: 'import.list',
    method: 'GET',
    path: '/imports',
    tag,
    summary: 'List imports',
    description: `The latest ${maxImportJobs}, newest first.`,
    access,
    reply: { status: 200, schema: Type.Object({ imports: Type.Array(ImportJobView) }) },
    refusals: [],
    read: (view) => ({ imports: listImports(view) }),
  }),

  route({
    operation: 'import.create',
    method: 'POST',
    path: '/imports',
    tag,
    summary: 'Start an import',
    description:
      'From a service it begins at once. From an `mbox` file it begins when all of the file was received by PUT /imports/{importId}/file. ' +
      'With `isPreview` it reads a part, changes nothing and stops, with `finishedAt`; POST /imports/{importId}/resume then begins in earnest. ' +
      'No one is mailed, notified or assigned work by it. The same again adds what is missing. ' +
      'The token is sealed, never returned, and deleted when the import is done or deleted. ' +
      'An import that is not finished is deleted after seven days without a change; what it brought in stays.',
    access,
    body: Type.Object({
      kind: ImportKind,
      isPreview: Type.Optional(Type.Boolean({ default: false })),
      departmentId: Type.Optional(nullable(Id)),
      url: Type.Optional(TypedUrl),
      account: Type.Optional(
        line(
          320,
          "Chatwoot: the account's number. Zendesk: the email address of the token's user. Help Scout: the app's id.",
        ),
      ),
      token: Type.Optional(Token),
      name: Type.Optional(line(200, "Of a file: the file's name.")),
      bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: maxFileBytes, description: 'Of a file: its size.' })),
      addresses: Type.Optional(
        Type.Array(Email, {
          maxItems: 50,
          description: 'Of a file: your own addresses, beside those that are known here. Mail from them is an answer.',
        }),
      ),
    }),
    reply: { status: 201, schema: ImportJobView },
    refusals: ['semantic_error', 'feature_locked', 'forbidden_url'],
    async run({ workspaceId, caller, body }, services) {
      const view = viewOf(services, workspaceId, caller);
      requireAdmin(view);
      requireFeature(view, 'tickets');
      const importId = services.ids.uuid();
      const { kind, isPreview = false, departmentId = null } = body;
      const given: NewImport = {
        kind,
        isPreview,
        departmentId,
        ...(kind === 'mbox' ? fileOf(body) : await serviceOf(services, { ...body, kind, workspaceId, importId })),
      };
      const leftBytes = await roomOfFiles(services);
      return services.engine.execute(createImport, { workspaceId, caller, params: { importId, given, leftBytes } });
    },
  }),

  route({
    operation: 'import.read',
    method: 'GET',
    path: '/imports/{importId}',
    tag,
    summary: 'Get an import',
    access,
    params: ById,
    reply: { status: 200, schema: ImportJobView },
    refusals: [],
    read: (view, { params }) => listImports(view).find(({ id }) => id === params.importId) ?? refuse('not_found'),
  }),

  route({
    operation: 'import.receive',
    method: 'PUT',
    path: '/imports/{importId}/file',
    tag,
    summary: 'Send a part of the file',
    description:
      `At most ${maxPartBytes / 1024 / 1024} MiB, in order: \`offset\` is \`receivedBytes\` of the import. ` +
      'Another offset is `conflict` and names the right one, so an upload that was broken off goes on where it ended.',
    access,
    takesRoom: 'onDisk',
    anyHeaders: true,
    httpOnly: true,
    params: ById,
    query: Type.Object({ offset: Type.Optional(Type.Integer({ minimum: 0, maximum: maxFileBytes, default: 0 })) }),
    reply: { status: 204, schema: null },
    refusals: ['conflict'],
    actsOutside: true,
    async receive({ workspaceId, caller, params: { importId }, query: { offset = 0 }, body }, services) {
      const nextPart = (): ImportJobRecord => {
        const job = requireImport(viewOf(services, workspaceId, caller), importId);
        requireNextPart(job, offset);
        return job;
      };
      nextPart();
      if (inUse.has(importId)) refuse('conflict', { message: 'Another part of the file is being received.' });
      inUse.add(importId);
      try {
        const path = services.imports.pathOf(workspaceId, importId);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const leftBytes = await roomOfFiles(services);
        // Looked at again, with nothing awaited before the file is opened, which empties it at offset 0.
        const most = Math.min(maxPartBytes, (nextPart().bytes ?? 0) - offset);
        if (most > leftBytes)
          refuse('service_unavailable', {
            message:
              'The disk of this server has no room for more files of imports. Go on when other imports are done.',
          });
        const bytes = await write(path, { workspaceId, offset, diskTurns: services.diskTurns, most, body });
        await services.engine.execute(receiveImport, { workspaceId, caller, params: { importId, offset, bytes } });
      } catch (error) {
        // Its import may have been deleted, with the file, just before the file was opened.
        await services.imports.removeStray(workspaceId, importId);
        throw error;
      } finally {
        inUse.delete(importId);
      }
      return { status: 204, headers: {}, body: '' };
    },
  }),

  route({
    operation: 'import.stop',
    method: 'POST',
    path: '/imports/{importId}/stop',
    tag,
    summary: 'Stop an import',
    description: 'What it brought in stays.',
    access,
    params: ById,
    reply: { status: 200, schema: ImportJobView },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(stopImport, { workspaceId, caller, params }),
  }),

  route({
    operation: 'import.resume',
    method: 'POST',
    path: '/imports/{importId}/resume',
    tag,
    summary: 'Go on with an import',
    description:
      'Where it stopped or failed, with another `token` if the service refused it. After a preview that has ended and read something, ' +
      'the import begins. One that was stopped or failed, or found nothing, looks again.',
    access,
    params: ById,
    body: Type.Object({ token: Type.Optional(Token) }),
    reply: { status: 200, schema: ImportJobView },
    refusals: ['conflict'],
    run({ workspaceId, caller, params: { importId }, body: { token } }, { engine, secrets }) {
      const sealedToken = token && secrets.seal(token, importKeyName(workspaceId, importId));
      return engine.execute(resumeImport, { workspaceId, caller, params: { importId, sealedToken } });
    },
  }),

  route({
    operation: 'import.delete',
    method: 'DELETE',
    path: '/imports/{importId}',
    tag,
    summary: 'Delete an import',
    description: 'With its token and its file. What it brought in stays.',
    access,
    params: ById,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(removeImport, { workspaceId, caller, params }),
  }),
];

function viewOf({ engine }: Services, workspaceId: string, caller: Caller): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}

/** Bytes that files of imports may still take: all of them leave as much of the disk to everything else as they take. */
async function roomOfFiles({ imports, disk, config }: Services): Promise<number> {
  const held = await imports.heldBytes();
  return Math.max(0, Math.floor((held + disk.freeBytes - config.diskReserveBytes) / 2) - held);
}

function fileOf({
  name,
  bytes,
  addresses = [],
}: {
  name?: string;
  bytes?: number;
  addresses?: string[];
}): Pick<NewImport, 'name' | 'bytes' | 'addresses'> {
  if (bytes === undefined) refuseField('invalid_body', 'bytes', 'is required');
  return { name: name ?? 'mbox', bytes, addresses };
}

/** Refuses invalid_body, forbidden_url. */
async function serviceOf(
  { secrets, webhookSender }: Services,
  given: {
    kind: Exclude<NewImport['kind'], 'mbox'>;
    workspaceId: string;
    importId: string;
    url?: string;
    account?: string;
    token?: string;
  },
): Promise<Pick<NewImport, 'name' | 'url' | 'account' | 'sealedToken'>> {
  const { kind, token, account = null } = given;
  const url = URL.parse(given.url ?? places[kind] ?? '') ?? refuseField('invalid_body', 'url', 'is required');
  if (token === undefined) refuseField('invalid_body', 'token', 'is required');
  const accountProblem = accounts[kind];
  if (accountProblem !== null && account === null) refuseField('invalid_body', 'account', accountProblem);
  if (await webhookSender.isForbidden(url.href)) refuse('forbidden_url');
  return {
    name: url.host,
    url: url.origin + url.pathname.replace(/\/+$/, ''),
    account,
    sealedToken: secrets.seal(token, importKeyName(given.workspaceId, given.importId)),
  };
}

/** Opens the file at once. Resolves to the number of bytes, once they are on the disk. Refuses payload_too_large. */
async function write(
  path: string,
  {
    workspaceId,
    offset,
    most,
    body,
    diskTurns,
  }: { workspaceId: string; offset: number; most: number; diskTurns: DiskTurns; body: AsyncIterable<Uint8Array> },
): Promise<number> {
  const file = await open(path, offset === 0 ? 'w' : 'r+', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return refuse('conflict', { message: fileGone });
  });
  try {
    let [bytes, synced] = [0, 0];
    for await (const part of body) {
      if (bytes + part.length > most)
        refuse('payload_too_large', {
          message: `This part may have at most ${most} bytes.`,
          detail: { maxBytes: most },
        });
      await file.write(part, 0, part.length, offset + bytes);
      bytes += part.length;
      if (bytes - synced < syncBytes) continue;
      synced = bytes;
      await diskTurns.take(workspaceId, () => file.datasync());
    }
    await diskTurns.take(workspaceId, () => file.sync());
    return bytes;
  } finally {
    await file.close();
  }
}
