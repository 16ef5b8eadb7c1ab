// A help centre at a host of its owner, such as help.shop.example. Who may write the host's DNS says whose help centre it
// shows, so that no one can show theirs at another's.

import type { NameResolver } from '../../workers/providers/resolver.ts';
import type { Directory } from '../directory/directory.ts';
import { refuse, refuseField } from '../errors.ts';
import { type Actor, systemCaller } from '../runtime/caller.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Log } from '../runtime/log.ts';
import { requireAdmin } from '../workspace/access.ts';
import { hostNameOf } from '../workspace/sites.ts';
import { changeKbSettings, forgetHelpHost, type KbChanges, type KbSettings, kbSettings } from './settings.ts';

/** No address, and not of this machine. */
const inADomain = /[a-z0-9]\.[a-z0-9-]*[a-z][a-z0-9-]*$/;

export interface HelpHostPorts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly log: Log;
  readonly names: NameResolver;
  /** Hosts that the service itself uses. */
  readonly ownHosts: readonly string[];
}

/**
 * Changes the settings. The directory leads to the host before the workspace's own settings name it, and not after they
 * no longer do. Refuses admin_required, validation_error if the host's record is missing or the host is the service's own.
 */
export async function changeSettingsAndHost(
  ports: HelpHostPorts,
  actor: Actor,
  changes: KbChanges,
): Promise<KbSettings> {
  const { engine, directory, log } = ports;
  const { workspaceId } = actor;
  const helpHost = changes.helpHost == null ? changes.helpHost : requireHost(changes.helpHost);
  const present = directory.helpHostOf(workspaceId);
  const isNew = typeof helpHost === 'string' && helpHost !== present;
  if (isNew) await requireRecord(ports, actor, helpHost);
  const former = isNew ? await directory.claimHelpHost({ workspaceId, host: helpHost }) : undefined;
  const after = await engine.execute(changeKbSettings, { ...actor, params: { ...changes, helpHost } });
  if (helpHost === null && present !== undefined) await directory.releaseHelpHost({ workspaceId, host: present });
  if (isNew && former !== undefined && former !== workspaceId) {
    await engine.whenOpen(former);
    const params = { host: helpHost };
    // It may be served elsewhere, or its file be unreadable: then its settings go on naming the host, and the directory
    // says where it leads. The change that was asked for is done.
    await engine
      .execute(forgetHelpHost, { workspaceId: former, caller: systemCaller, params })
      .catch((error: unknown) =>
        log.warn({ workspaceId: former, err: error }, 'a workspace still names a host that it lost'),
      );
  }
  return after;
}

/** In its ASCII form. Refuses validation_error. */
function requireHost(host: string): string {
  const name = hostNameOf(host.trim());
  if (name === undefined || !inADomain.test(name))
    refuseField('validation_error', 'helpHost', 'must be a host, such as help.example.com');
  return name;
}

async function requireRecord({ engine, names, ownHosts }: HelpHostPorts, actor: Actor, host: string): Promise<void> {
  const view = engine.workspace(actor.workspaceId)?.view(actor.caller) ?? refuse('unauthorized');
  requireAdmin(view);
  if (ownHosts.includes(host)) refuseField('validation_error', 'helpHost', "is this server's own");
  const { helpHostProof } = kbSettings(view);
  const name = `_switchboard.${host}`;
  const found = await names.txt(name).catch(() => undefined);
  if (found === undefined)
    refuseField('validation_error', 'helpHost', 'cannot be looked up now: try again in a moment');
  if (!found.some((text) => text.trim() === helpHostProof))
    refuseField('validation_error', 'helpHost', `needs a DNS record: TXT ${name} "${helpHostProof}"`);
}
