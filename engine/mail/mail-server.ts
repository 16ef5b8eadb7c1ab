// The mail server of one workspace. It sends that workspace's mail and no other's, so its admins can read or redirect
// nothing of their neighbours on the same service. Each server's address is checked again whenever it is used.

import {
  deleteMailServer,
  findMailServer,
  type MailServerRecord,
  putMailServer,
} from '../../store/mail/mail-servers.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';

export type NewMailServer = Omit<MailServerRecord, 'updatedAt'>;

/** Null removes it. Refuses admin_required. */
export const setMailServer = command('mailServer.set', (ctx, params: { server: NewMailServer | null }): void => {
  requireAdmin(ctx);
  const before = findMailServer(ctx.db);
  if (params.server === null) deleteMailServer(ctx.db);
  else putMailServer(ctx.db, { ...params.server, updatedAt: ctx.at });
  ctx.audit({
    action: 'workspace.updated',
    targetKind: 'workspace',
    targetId: ctx.workspaceId,
    before: shown(before),
    after: shown(params.server ?? undefined),
  });
});

export function theMailServer(view: View): MailServerRecord | undefined {
  return findMailServer(view.db);
}

function shown(server: NewMailServer | undefined): { mailServer: object | null } {
  if (server === undefined) return { mailServer: null };
  const { host, port, security, username, fromAddress } = server;
  return { mailServer: { host, port, security, username, fromAddress } };
}
