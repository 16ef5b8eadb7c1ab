// Links by which files are uploaded, and images fetched from elsewhere. The bytes go to storage.ts. Specification 4.9.

import { createHash } from 'node:crypto';
import Type from 'typebox';
import {
  maxLogoBytes,
  networkUploadBytesPerDay,
  uploadLinkMs,
  visitorLinksPerMinute,
  visitorUploadBytesPerDay,
} from '../../engine/constants.ts';
import { refuse, refuseField, type Slug } from '../../engine/errors.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import { acceptedType, isImage, isUnknownType, unknownType } from '../../engine/workspace/media-types.ts';
import { abandonUpload, reserveLogo, reserveUpload, settleUpload } from '../../engine/workspace/uploads.ts';
import type { UploadKind } from '../../store/workspace/uploads.ts';
import type { FetchedImage, NoImage } from '../../workers/files/image-source.ts';
import { networkOf } from '../limits/network-address.ts';
import { route } from '../route.ts';
import { said, Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const tag = 'Uploads';
const linkMinutes = uploadLinkMs / 60_000;

const slugOf: Readonly<Record<NoImage['problem'], Slug>> = {
  address: 'invalid_body',
  type: 'content_type_not_allowed',
  size: 'file_too_large',
};

const File = {
  filename: said(500, 'As people call it; downloads are called so, too.'),
  contentType: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'application/octet-stream where a browser knows none: then the end of the name says it.',
  }),
  size: Type.Integer({ minimum: 1, description: 'In bytes; more are not taken.' }),
};
const Link = Type.Object({
  uploadUrl: Type.String({
    description: `Takes a PUT of the bytes within ${linkMinutes} minutes, with the same Content-Type.`,
  }),
  publicUrl: Type.String({ description: 'Where the file can be read by whoever knows the address, once it is there.' }),
  key: Type.String(),
});

export const uploadRoutes = [
  route({
    operation: 'uploads.presign',
    method: 'POST',
    path: '/uploads/presigned',
    tag,
    summary: 'Get a link to upload a file by',
    description:
      'Common documents, archives, images, audio and video, up to 25 MB; logos are images up to 2 MB, by admins. The file itself is held to what was said here: its type, its size, and that its bytes are of that type. ' +
      'Team attachments share a quota; room is kept from now until the link is used or its time is over.',
    access: { kind: 'agent', scope: null },
    takesRoom: 'files',
    body: Type.Object({
      ...File,
      kind: Type.Optional(Type.Enum(['attachment', 'logo', 'team_attachment'], { default: 'attachment' })),
    }),
    reply: { status: 200, schema: Link },
    refusals: [
      'content_type_not_allowed',
      'file_too_large',
      'storage_limit_reached',
      'admin_required',
      'storage_not_configured',
    ],
    run: ({ workspaceId, caller, ip, body }, services) =>
      presign(services, { workspaceId, caller, ip }, { ...body, kind: body.kind ?? 'attachment' }),
  }),

  route({
    operation: 'widget.presignUpload',
    method: 'POST',
    path: '/widget/uploads/presigned',
    tag: 'Widget',
    summary: 'Get a link to upload an attachment by',
    description: `${visitorLinksPerMinute} links a minute and ${visitorUploadBytesPerDay / 1024 / 1024} MB a day of a visitor, ${networkUploadBytesPerDay / 1024 / 1024} MB of all visitors of a network. What no message names within a day is removed.`,
    access: { kind: 'visitor' },
    takesRoom: 'files',
    body: Type.Object(File),
    reply: { status: 200, schema: Link },
    refusals: ['content_type_not_allowed', 'file_too_large', 'storage_not_configured'],
    run: ({ workspaceId, caller, ip, body }, services) =>
      presign(services, { workspaceId, caller, ip }, { ...body, kind: 'attachment' }),
  }),

  route({
    operation: 'uploads.importFromUrl',
    method: 'POST',
    path: '/uploads/import-from-url',
    tag,
    summary: 'Keep a copy of an image as a logo',
    description:
      'Up to 2 MB, from a public host. An address that is not public, or answers with nothing of use, is invalid_body.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    takesRoom: 'files',
    body: Type.Object({ url: Url }),
    reply: {
      status: 201,
      schema: Type.Object({ url: Type.String(), key: Type.String(), contentType: Type.String(), size: Type.Integer() }),
    },
    refusals: ['content_type_not_allowed', 'file_too_large', 'storage_not_configured', 'forbidden'],
    async run({ workspaceId, caller, ip, body }, { engine, objects, uploadLinks, imageSource }) {
      if (objects === undefined) refuse('storage_not_configured');
      const image = await imageSource.fetch(body.url, { maxBytes: maxLogoBytes });
      if ('problem' in image) refuseField(slugOf[image.problem], 'url', image.message);
      const contentType = acceptedType(image.contentType ?? '');
      if (contentType === undefined || !isImage(contentType))
        refuseField('content_type_not_allowed', 'url', 'leads to what is no image');
      const size = image.bytes.byteLength;
      const { id, key } = await engine.execute(reserveLogo, {
        workspaceId,
        caller,
        params: { contentType, size, filename: image.filename, network: networkOf(ip) },
      });
      try {
        await objects.put(key, { contentType, size }, whole(image));
      } catch (error) {
        await engine.execute(abandonUpload, { workspaceId, caller, params: { uploadId: id } });
        throw error;
      }
      await engine.execute(settleUpload, {
        workspaceId,
        caller,
        params: { uploadId: id, size, sha256: createHash('sha256').update(image.bytes).digest('hex') },
      });
      return { url: uploadLinks.publicUrl(key), key, contentType, size };
    },
  }),
];

async function presign(
  { engine, objects, uploadLinks, config }: Services,
  { workspaceId, caller, ip }: { workspaceId: string; caller: Caller; ip: string },
  file: { filename: string; contentType: string; size: number; kind: UploadKind },
) {
  if (objects === undefined) refuse('storage_not_configured');
  const upload = await engine.execute(reserveUpload, {
    workspaceId,
    caller,
    params: { ...file, quotaBytes: config.storageQuotaBytes, network: networkOf(ip) },
  });
  // The type as it was asked for: what a browser does not know it sends as it named it.
  const signed = isUnknownType(file.contentType) ? { ...upload, contentType: unknownType } : upload;
  return {
    uploadUrl: uploadLinks.uploadUrl(upload.key, signed),
    publicUrl: uploadLinks.publicUrl(upload.key),
    key: upload.key,
  };
}

async function* whole({ bytes }: FetchedImage): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}
