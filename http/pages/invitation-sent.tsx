// After an invitation: its link, to pass on in any way. The mail may be slow, may land in a spam folder, or may not leave
// this server at all.

import type { JSX } from 'preact';
import { Button } from './design/button.tsx';
import { Copyable } from './design/copyable.tsx';
import { Dialog } from './design/dialog.tsx';
import { Banner } from './design/feedback.tsx';
import type { Agent } from './records.ts';
import { keepsMail } from './session.ts';

export type Invited = Agent & { readonly joinUrl: string | null };

export function InvitationSent({
  invited,
  onClose,
}: {
  readonly invited: Invited;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title={`${invited.name} is invited`} onClose={onClose}>
      <div class="stack">
        <InvitationLink invited={invited} />
        <div class="actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

export function InvitationLink({ invited: { email, joinUrl } }: { readonly invited: Invited }): JSX.Element {
  if (joinUrl === null)
    return keepsMail.value ? (
      <Banner kind="warn">
        The invitation is kept in the outbox of this server and was not sent. <MailLink />
      </Banner>
    ) : (
      <p>An invitation is on its way to {email}. Its link works once, for 7 days.</p>
    );
  return (
    <>
      <p>
        {keepsMail.value
          ? `This server does not send mail yet, so give ${email} this link yourself.`
          : `An invitation is on its way to ${email}. You can also give them its link yourself.`}{' '}
        It works once, for 7 days. Anyone who has it can join.
      </p>
      <Copyable label="the link" text={joinUrl} />
    </>
  );
}

export function MailLink(): JSX.Element {
  return <a href="/settings/email">Set up mail</a>;
}
