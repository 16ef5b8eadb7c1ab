// Authenticator apps of customers: a secret is drawn and sealed here before a command stores it, and opened here to
// check a code. Called by the edge; asynchronous, because secrets and codes are made by a worker. Decisions 4.21.

import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import type { Totp, TotpSecret } from '../../workers/secrets/totp.ts';
import { refuse } from '../errors.ts';
import type { Actor } from '../runtime/caller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { testCode } from './codes.ts';
import { checkFactor, enrolFactor, requireFactor } from './factors.ts';
import type { CheckOutcome } from './verification.ts';

export interface AuthenticatorPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: SecretBox;
  readonly totp: Totp;
}

/** Twenty bytes, the length of SHA-1's output (RFC 4226 §4). */
const secretBytes = 20;

/** Resolves to the new factor and its secret. Refuses as enrolFactor. */
export async function enrolAuthenticator(
  ports: AuthenticatorPorts,
  actor: Actor,
  wanted: { identity: string; serviceId: string | undefined; isTest: boolean },
): Promise<TotpSecret & { factorId: string }> {
  const { engine, ids, secrets, totp } = ports;
  const factorId = ids.uuid();
  const enrolled = await totp.enrol({
    bytes: Buffer.from(ids.secret(secretBytes), 'base64url'),
    issuer: theWorkspace(viewOf(ports, actor)).name,
    account: wanted.identity,
  });
  const sealedSecret = secrets.seal(enrolled.secret, sealedAs(actor.workspaceId, factorId));
  await engine.execute(enrolFactor, { ...actor, params: { ...wanted, factorId, sealedSecret } });
  return { factorId, ...enrolled };
}

/** Refuses as checkFactor. A test key accepts only the test code. */
export async function checkAuthenticator(
  ports: AuthenticatorPorts,
  actor: Actor,
  { factorId, code, isTest }: { factorId: string; code: string; isTest: boolean },
): Promise<CheckOutcome> {
  const { engine, clock, secrets, totp } = ports;
  const { sealedSecret } = requireFactor(viewOf(ports, actor), { factorId, isTest });
  const ofTest = code === testCode ? 0 : undefined;
  const step = isTest
    ? ofTest
    : await totp.stepOf({
        secret: secrets.open(sealedSecret, sealedAs(actor.workspaceId, factorId)),
        code,
        nowMs: clock.now(),
      });
  return engine.execute(checkFactor, { ...actor, params: { factorId, isTest, step: step ?? null } });
}

function sealedAs(workspaceId: string, factorId: string): string {
  return `${workspaceId}:totp:${factorId}`;
}

function viewOf({ engine }: AuthenticatorPorts, { workspaceId, caller }: Actor): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}
