// One-time codes: drawn, hashed and sealed here before a command stores them, and opened here only while they are
// delivered. No other part of the service sees a code. Called by the edge and the outbox; asynchronous, because codes
// are looked up, sent and spoken by others. Specification 4.21.

import type { NumberingPlan } from '../../workers/numbering-plan.ts';
import type { Carrier } from '../../workers/providers/carrier.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { refuse } from '../errors.ts';
import { mailboxName, plainName } from '../lines.ts';
import type { Actor } from '../runtime/caller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import { DeliveryError } from '../runtime/outbox.ts';
import { codeWordsFor, spokenWordsFor } from './code-words.ts';
import type { CodeToSend } from './delivery.ts';
import { codeLengthFor } from './services.ts';
import { type CheckOutcome, type CreateCodeParams, checkVerification, createVerification } from './verification.ts';
import type { VerificationView } from './view.ts';

/** The code that test keys accept. */
export const testCode = '000000';

interface Named {
  readonly workspaceId: string;
  readonly verificationId: string;
}

const about = ({ workspaceId, verificationId }: Named): string => `${workspaceId}:verification:${verificationId}`;

/** Enough bits that the remainder by a hundred million has no measurable bias. */
const drawnBytes = 8;

/** A code may begin with zeros. */
function freshCode(
  { ids, secrets }: { ids: Pick<Ids, 'secret'>; secrets: SecretBox },
  verification: Named & { codeLength: number },
): { codeHash: string; sealedCode: string } {
  const drawn = Buffer.from(ids.secret(drawnBytes), 'base64url').readBigUInt64BE();
  const code = String(drawn % BigInt(10 ** verification.codeLength)).padStart(verification.codeLength, '0');
  return { codeHash: hashOfCode(secrets, verification, code), sealedCode: secrets.seal(code, about(verification)) };
}

/** The same code has another hash in another verification. */
function hashOfCode(secrets: SecretBox, verification: Named, code: string): string {
  return secrets.digest(code, about(verification));
}

export interface RequestPorts {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly secrets: SecretBox;
  readonly numberingPlan: NumberingPlan;
  readonly carrier: Pick<Carrier, 'provider'>;
}

/** As the caller asks for it, within the server's limits. */
export type CodeRequest = Omit<
  CreateCodeParams,
  'verificationId' | 'codeHash' | 'sealedCode' | 'country' | 'hasWrongLength' | 'costlyKind' | 'hasCarrier'
>;

/** Creates a verification and queues its code; a test key's is never sent. Refuses as createVerification. */
export async function requestCode(
  { engine, ids, secrets, numberingPlan, carrier }: RequestPorts,
  actor: Actor,
  request: CodeRequest,
): Promise<VerificationView> {
  const { to, channel, serviceId, isTest } = request;
  const verificationId = ids.uuid();
  const named = { workspaceId: actor.workspaceId, verificationId };
  const view = (engine.workspace(actor.workspaceId) ?? refuse('unauthorized')).view(actor.caller);
  const code = isTest
    ? { codeHash: hashOfCode(secrets, named, testCode), sealedCode: null }
    : freshCode({ ids, secrets }, { ...named, codeLength: codeLengthFor(view, serviceId) });
  const isNumber = channel === 'sms' || channel === 'voice';
  const country = isNumber ? await numberingPlan.destinationOf(to) : undefined;
  return engine.execute(createVerification, {
    ...actor,
    params: {
      ...request,
      ...code,
      verificationId,
      country,
      hasWrongLength: country !== undefined && !(await numberingPlan.isPossible(to)),
      costlyKind: isNumber ? await numberingPlan.costlyKindOf(to) : undefined,
      hasCarrier: carrier.provider !== 'none',
    },
  });
}

/** Refuses not_found. */
export function checkCode(
  { engine, secrets }: Pick<RequestPorts, 'engine' | 'secrets'>,
  actor: Actor,
  { verificationId, code, isTest }: { verificationId: string; code: string; isTest: boolean },
): Promise<CheckOutcome> {
  const codeHash = hashOfCode(secrets, { workspaceId: actor.workspaceId, verificationId }, code);
  return engine.execute(checkVerification, { ...actor, params: { verificationId, isTest, codeHash } });
}

/** A longer name would need a second message, which costs twice as much. */
const maxNameChars = 40;

export interface CodePorts {
  readonly secrets: SecretBox;
  readonly clock: Pick<Clock, 'now'>;
  mail(message: {
    workspaceId: string;
    id: string;
    to: string;
    subject: string;
    text: string;
    fromName: string;
  }): Promise<string>;
  text(message: { workspaceId: string; id: string; to: string; body: string }): Promise<string>;
  speak(message: { workspaceId: string; id: string; to: string; language: string; body: string }): Promise<string>;
}

/** Sends a code by its channel. Rejects with DeliveryError once the code has expired, and with the errors of the ports. */
export async function sendCode(
  ports: CodePorts,
  item: { workspaceId: string; id: string; verificationId: string; code: CodeToSend },
): Promise<string> {
  const { channel, to, ttlMinutes } = item.code;
  const workspaceName = plainName(item.code.workspaceName, maxNameChars);
  if (ports.clock.now() > Date.parse(item.code.expiresAt))
    throw new DeliveryError('the code has expired', { permanent: true });
  const code = ports.secrets.open(item.code.sealedCode, about(item));
  // Codes queued before languages were added are English.
  const locale = item.code.locale ?? 'en';
  const words = codeWordsFor(locale);
  const said = { code, name: workspaceName, minutes: words.minutes(ttlMinutes) };
  const { workspaceId, id } = item;
  switch (channel) {
    case 'email':
      return ports.mail({
        workspaceId,
        id,
        to,
        subject: words.subject(code),
        text: words.mail(said),
        fromName: mailboxName(item.code.workspaceName),
      });
    case 'sms':
      return ports.text({ id, workspaceId, to, body: words.text(said) });
    case 'voice': {
      const { language, say } = spokenWordsFor(locale);
      // Digit by digit, so that the voice does not read a number; twice, so that the listener can write it down.
      return ports.speak({
        id,
        workspaceId,
        to,
        language,
        body: say({ code: [...code].join(', '), name: workspaceName }),
      });
    }
  }
}
