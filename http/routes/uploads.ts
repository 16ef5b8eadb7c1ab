// Upload links, and images imported from other sites. storage.ts receives the bytes. Specification 4.9.

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
  filename: said(500, 'The name people see, also used for downloads.'),
  contentType: Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      'application/octet-stream if the browser does not know the type; the file extension then determines it.',
  }),
  size: Type.Integer({ minimum: 1, description: 'In bytes; the upload may not be larger.' }),
};
const Link = Type.Object({
  uploadUrl: Type.String({
    description: `Accepts a PUT of the bytes within ${linkMinutes} minutes, with the same Content-Type.`,
  }),
  publicUrl: Type.String({ description: 'Where anyone who knows the URL can read the file once it is uploaded.' }),
  key: Type.String(),
});

export const uploadRoutes = [
  route({
    operation: 'uploads.presign',
    method: 'POST',
    path: '/uploads/presigned',
    tag,
    summary: 'Get an upload link',
    description:
      'Common documents, archives, images, audio and video up to 25 MB; logos and pictures (of agents) are images up to 2 MB; logos require an admin. ' +
      'The uploaded file must match the declared type and size. ' +
      'Team attachments share a quota; the space is reserved until the link is used or expires.',
    access: { kind: 'agent', scope: null },
    takesRoom: 'files',
    body: Type.Object({
      ...File,
      kind: Type.Optional(Type.Enum(['attachment', 'logo', 'team_attachment', 'picture'], { default: 'attachment' })),
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
    summary: 'Get an upload link for an attachment',
    description:
      `At most ${visitorLinksPerMinute} links a minute and ${visitorUploadBytesPerDay / 1024 / 1024} MB a day per visitor, ` +
      `and ${networkUploadBytesPerDay / 1024 / 1024} MB a day for all visitors of a network. ` +
      'Files that no message uses within a day are removed.',
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
    summary: 'Import an image as a logo',
    description:
      'Up to 2 MB, from a public host. Returns `invalid_body` if the address is not public or serves nothing usable.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    takesRoom: 'files',
    body: Type.Object({ url: Url }),
    reply: {
      status: 201,
      schema: Type.Object({ url: Type.String(), key: Type.String(), contentType: Type.String(), size: Type.Integer() }),
    },
    refusals: ['content_type_not_allowed', 'file_too_large', 'storage_not_configured', 'forbidden'],
    actsOutside: true,
    async run({ workspaceId, caller, ip, body }, { engine, objects, uploadLinks, imageSource }) {
      if (objects === undefined) refuse('storage_not_configured');
      const image = await imageSource.fetch(body.url, { maxBytes: maxLogoBytes });
      if ('problem' in image) refuseField(slugOf[image.problem], 'url', image.message);
      const contentType = acceptedType(image.contentType ?? '');
      if (contentType === undefined || !isImage(contentType))
        refuseField('content_type_not_allowed', 'url', 'must lead to an image');
      const size = image.bytes.byteLength;
      const { id, key } = await engine.execute(reserveLogo, {
        workspaceId,
        caller,
        params: { contentType, size, filename: image.filename, network: networkOf(ip) },
      });
      try {
        await objects.put(key, { contentType, size, sender: networkOf(ip) }, whole(image));
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
  // The type as requested: a browser sends an unknown type as the client named it.
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
