// Who has this email and this password. Takes the same time for an unknown email. Used by the login and by the consent page.

import type { SignedIn } from '../engine/joining.ts';
import { isActive, theRoster } from '../engine/roster.ts';
import { systemCaller } from '../engine/runtime/command.ts';
import { theWorkspace } from '../engine/workspace.ts';
import { networkOf } from './network-address.ts';
import type { Services } from './services.ts';

/** Undefined for a wrong pair, and for an agent that may not sign in; that is logged with the address it came from. Refuses rate_limited. */
export async function signIn(services: Services, given: { email: string; password: string; ip: string; operation: string }): Promise<SignedIn | undefined> {
  const { ip, operation } = given;
  services.signInGuard.requireTry(given.email);
  const found = await findAgent(services, given.email);
  const matches = await services.hasher.verify(found?.agent.passwordHash ?? undefined, given.password, networkOf(ip));
  if (matches && found !== undefined && isActive(found.agent)) return found;
  // In this form for what reads logs to shut out addresses (OPERATING.md).
  services.log.warn({ address: ip, operation, agentId: found?.agent.id ?? null }, 'a sign-in failed');
  return undefined;
}

/** By the address it has now: the directory may still name a former one for a moment. */
export async function findAgent(services: Pick<Services, 'directory' | 'engine'>, email: string): Promise<SignedIn | undefined> {
  const wanted = email.toLowerCase();
  const entry = services.directory.findEmail(wanted);
  if (entry !== undefined) await services.engine.whenOpen(entry.workspaceId);
  const workspace = entry === undefined ? undefined : services.engine.workspace(entry.workspaceId);
  if (entry === undefined || workspace === undefined) return undefined;
  const view = workspace.view(systemCaller);
  const agent = theRoster(view).agents.get(entry.agentId);
  return agent?.email.toLowerCase() === wanted ? { agent, workspace: theWorkspace(view) } : undefined;
}
