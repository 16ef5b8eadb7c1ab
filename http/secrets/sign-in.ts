// Verifies an email and a password. Takes the same time for an unknown email. Used at sign-in, on the consent page, and
// when a signed-in agent confirms an action.

import { refuse } from '../../engine/errors.ts';
import { comparable } from '../../engine/mail-addresses.ts';
import { type Caller, systemCaller } from '../../engine/runtime/caller.ts';
import { knownOriginOf, noteAttack, type SignInOrigin } from '../../engine/team/known-origins.ts';
import type { Member } from '../../engine/team/signing-in.ts';
import { callingAgent } from '../../engine/workspace/access.ts';
import { isActive, theRoster } from '../../engine/workspace/roster.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { ownTry, type Try, tryOf } from '../limits/sign-in-guard.ts';
import type { Services } from '../services.ts';

/**
 * Undefined for a wrong pair and for an agent that may not sign in, which is logged with its address. Refuses
 * rate_limited.
 */
export async function findByPassword(
  services: Services,
  given: { email: string; password: string; origin: SignInOrigin; operation: string },
): Promise<Member | undefined> {
  const { origin, operation } = given;
  const found = await findAgent(services, given.email);
  const tried = tryAt(services, found, given);
  services.signInGuard.requireTry(tried);
  const matches = await services.hasher.verify(found?.agent.passwordHash ?? undefined, given.password, origin.network);
  if (!matches || found === undefined || !isActive(found.agent)) {
    noteFailure(services, { found, tried, origin, operation });
    return undefined;
  }
  services.signInGuard.noteSuccess(tried);
  return found;
}

/**
 * Whether the signed-in agent knows the password: someone who found an open browser does not. Counted for the agent
 * only. Refuses rate_limited.
 */
export async function findByOwnPassword(
  services: Services,
  given: { workspaceId: string; caller: Caller; password: string; origin: SignInOrigin; operation: string },
): Promise<Member | undefined> {
  const { workspaceId, caller, origin, operation } = given;
  const view = services.engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
  const found: Member = { agent: callingAgent(view), workspace: theWorkspace(view) };
  const tried = ownTry(found.agent.id);
  services.signInGuard.requireTry(tried);
  if (!(await services.hasher.verify(found.agent.passwordHash ?? undefined, given.password, origin.network))) {
    noteFailure(services, { found, tried, origin, operation });
    return undefined;
  }
  services.signInGuard.noteSuccess(tried);
  return found;
}

/** An attempt on an account. Its own browsers and networks, where known, are counted separately. */
export function tryAt(
  { engine }: Pick<Services, 'engine'>,
  found: Member | undefined,
  { email, origin }: { email: string; origin: SignInOrigin },
): Try {
  const view = found === undefined ? undefined : engine.workspace(found.workspace.id)?.view(systemCaller);
  return tryOf(
    email,
    origin,
    found === undefined || view === undefined ? undefined : knownOriginOf(view, found.agent.id, origin),
  );
}

/** Logs in a format that tools for blocking addresses read (OPERATING.md); notifies the agent after too many. */
export function noteFailure(
  { engine, log, signInGuard }: Pick<Services, 'engine' | 'log' | 'signInGuard'>,
  failed: { found: Member | undefined; tried: Try; origin: SignInOrigin; operation: string; isPasswordKnown?: boolean },
): void {
  const { found, tried, origin, operation, isPasswordKnown = false } = failed;
  log.warn({ address: origin.address, operation, agentId: found?.agent.id ?? null }, 'a sign-in failed');
  const inRow = signInGuard.noteFailure(tried);
  if (inRow === undefined || found === undefined || !isActive(found.agent)) return;
  const workspaceId = found.workspace.id;
  // Not awaited, so that a known account answers as fast as an unknown one.
  engine
    .execute(noteAttack, {
      workspaceId,
      caller: systemCaller,
      params: { agentId: found.agent.id, inRow, isPasswordKnown, origin },
    })
    .catch((error: unknown) => log.warn({ workspaceId, err: error }, 'an attack on an account could not be recorded'));
}

/** By its current address: the directory may still list a former one for a moment. */
export async function findAgent(
  services: Pick<Services, 'directory' | 'engine'>,
  email: string,
): Promise<Member | undefined> {
  const wanted = comparable(email);
  const entry = services.directory.findEmail(wanted) ?? (await services.directory.findEmailElsewhere(wanted));
  if (entry !== undefined) await services.engine.whenOpen(entry.workspaceId);
  const workspace = entry === undefined ? undefined : services.engine.workspace(entry.workspaceId);
  if (entry === undefined || workspace === undefined) return undefined;
  const view = workspace.view(systemCaller);
  const agent = theRoster(view).agents.get(entry.agentId);
  return agent?.email.toLowerCase() === wanted ? { agent, workspace: theWorkspace(view) } : undefined;
}
