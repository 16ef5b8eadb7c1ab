// How mailboxes are signed in to: by a sealed password, or by a provider's access token, which is renewed with a sealed
// refresh token and kept until it expires. The secrets are opened here, for one connection.

import { keepMailboxSecret } from '../../engine/mail/mailboxes.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import type { MailboxRecord } from '../../store/mail/mailboxes.ts';
import type { MailAccess } from '../../workers/providers/mail-access.ts';
import type { MailUser } from '../../workers/providers/mail-server.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';

/** The purpose under which a mailbox's password or refresh token is sealed. */
export const mailboxKeyName = (workspaceId: string, mailboxId: string): string => `${workspaceId}:mailbox:${mailboxId}`;

/** A token is renewed this long before it expires, so that it does not during a connection's sign-in. */
const marginMs = 60_000;

export class MailboxAccess {
  readonly #parts: { secrets: SecretBox; clock: Clock; access: MailAccess; engine: Engine };
  readonly #tokens = new Map<string, { sealedSecret: string; accessToken: string; expiresMs: number }>();

  constructor(parts: { secrets: SecretBox; clock: Clock; access: MailAccess; engine: Engine }) {
    this.#parts = parts;
  }

  /** Rejects with AccessRefused if the provider withdrew the access. */
  async userOf(
    workspaceId: string,
    mailbox: Pick<MailboxRecord, 'id' | 'username' | 'signIn' | 'sealedSecret'>,
  ): Promise<MailUser> {
    const { secrets, clock } = this.#parts;
    const { id, username: name, signIn, sealedSecret } = mailbox;
    if (signIn === 'password') return { name, password: secrets.open(sealedSecret, mailboxKeyName(workspaceId, id)) };
    const known = this.#tokens.get(id);
    if (known?.sealedSecret === sealedSecret && known.expiresMs - marginMs > clock.now())
      return { name, accessToken: known.accessToken };
    return { name, accessToken: await this.#renewed(workspaceId, { ...mailbox, signIn }) };
  }

  async #renewed(
    workspaceId: string,
    mailbox: Pick<MailboxRecord, 'id' | 'sealedSecret'> & { signIn: 'google' | 'microsoft' },
  ): Promise<string> {
    const { secrets, clock, access, engine } = this.#parts;
    const about = mailboxKeyName(workspaceId, mailbox.id);
    const { accessToken, expiresInMs, refreshToken } = await access.refresh(
      mailbox.signIn,
      secrets.open(mailbox.sealedSecret, about),
    );
    const sealedSecret = refreshToken === undefined ? mailbox.sealedSecret : secrets.seal(refreshToken, about);
    if (refreshToken !== undefined)
      await engine.execute(keepMailboxSecret, {
        workspaceId,
        caller: systemCaller,
        params: { mailboxId: mailbox.id, before: mailbox.sealedSecret, sealedSecret },
      });
    this.#tokens.set(mailbox.id, { sealedSecret, accessToken, expiresMs: clock.now() + expiresInMs });
    return accessToken;
  }
}
