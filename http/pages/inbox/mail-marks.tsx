// The marks of a message that came by mail: a prominent one if the sender may be forged, a discreet one if it is
// verified; who wrote it if not the customer, who else received it, and the mail as it was received.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import type { Conversation, Message, MessageMail } from '../records.ts';
import { visitorOf } from './customers.ts';
import { OriginalDialog } from './mail/original-dialog.tsx';

/** The number of recipients named; the rest are counted. */
const maxNamed = 3;

export function namesOf(addresses: readonly string[]): string {
  const more = addresses.length - maxNamed;
  return addresses.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Shown above the text. */
export function ForgedMark({ mail }: { readonly mail: MessageMail }): JSX.Element | null {
  if (mail.authentication?.dmarc !== 'fail') return null;
  const domain = mail.from.address.slice(mail.from.address.lastIndexOf('@') + 1);
  return (
    <p class="inbox-forged">
      <Icon name="warning" size={16} /> This email may be forged. It claims to be from {mail.from.address}, and {domain}{' '}
      does not confirm it.
    </p>
  );
}

/** Shown below the text. */
export function MailMarks({
  message,
  mail,
  conversation,
}: {
  readonly message: Message;
  readonly mail: MessageMail;
  readonly conversation: Conversation;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { from, copiedTo, authentication } = mail;
  const customer = visitorOf(conversation.visitorId)?.email;
  const isFromOther = customer != null && from.address.toLowerCase() !== customer.toLowerCase();
  const others = copiedTo.filter((address) => address.toLowerCase() !== customer?.toLowerCase());
  const isProved = authentication?.dmarc === 'pass';
  return (
    <p class="inbox-marks">
      {isProved && (
        <span title={`The sender's domain confirms that this is from ${from.address}`}>
          <Icon name="check" size={14} /> Confirmed sender
        </span>
      )}
      {isFromOther && <span>From {from.address}</span>}
      {others.length > 0 && <span title={others.join(', ')}>Also to {namesOf(others)}</span>}
      <button type="button" class="inbox-original" onClick={() => setOpen(true)}>
        Original email
      </button>
      {isOpen && <OriginalDialog message={message} onClose={() => setOpen(false)} />}
    </p>
  );
}
