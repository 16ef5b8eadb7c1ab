// Files that messages link to, as the disk keeps them. Whoever knows an address may read it; nobody can guess one. A file comes
// from a stranger: it is never run, framed or taken for anything but what it says it is. Decisions 4.9.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { route } from '../route.ts';

/** Shown where it is opened; everything else is downloaded. SVG is a document that runs scripts. */
const shown = /^(?:image\/(?!svg)|audio\/|video\/)/;

export const storageRoutes = [
  route({
    operation: 'storage.read',
    method: 'GET',
    path: '//storage/{workspaceId}/{kind}/{objectId}/{filename}',
    tag: 'Storage',
    summary: 'Read a file',
    access: { kind: 'public' },
    anyHeaders: true,
    httpOnly: true,
    params: Type.Object({ workspaceId: Type.String(), kind: Type.String(), objectId: Type.String(), filename: Type.String() }),
    reply: { status: 200, schema: null, contentType: 'application/octet-stream' },
    refusals: [],
    async send({ params }, { objects }) {
      const object = (await objects.find(`${params.workspaceId}/${params.kind}/${params.objectId}/${params.filename}`)) ?? refuse('not_found');
      return {
        status: 200,
        headers: {
          'Content-Type': object.contentType,
          'Content-Disposition': shown.test(object.contentType) ? 'inline' : 'attachment',
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Cache-Control': 'private, max-age=31536000, immutable',
        },
        body: await object.read(),
      };
    },
  }),
];
