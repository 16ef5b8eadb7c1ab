// One-time codes at the edge: drawn, hashed and sealed here before a command stores them, and opened here only while
// they are delivered. No other part of the service sees a code.

import { mailboxName, plainName } from '../../engine/lines.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import { DeliveryError } from '../../engine/runtime/outbox.ts';
import type { CodeToSend } from '../../engine/verification/delivery.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { codeWordsFor, spokenWordsFor } from './code-words.ts';

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
export function freshCode(
  { ids, secrets }: { ids: Pick<Ids, 'secret'>; secrets: SecretBox },
  verification: Named & { codeLength: number },
): { codeHash: string; sealedCode: string } {
  const drawn = Buffer.from(ids.secret(drawnBytes), 'base64url').readBigUInt64BE();
  const code = String(drawn % BigInt(10 ** verification.codeLength)).padStart(verification.codeLength, '0');
  return { codeHash: hashOfCode(secrets, verification, code), sealedCode: secrets.seal(code, about(verification)) };
}

/** The same code has another hash in another verification. */
export function hashOfCode(secrets: SecretBox, verification: Named, code: string): string {
  return secrets.digest(code, about(verification));
}

/** A longer name would need a second message, which costs twice as much. */
const maxNameChars = 40;

export interface CodePorts {
  readonly secrets: SecretBox;
  now(): number;
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
  if (ports.now() > Date.parse(item.code.expiresAt))
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
