// The addresses that receive email, and the domain that sends it.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';
import { EmailDomainPart } from './email-domain.tsx';
import { InboundAddresses } from './inbound-addresses.tsx';
import { InboundWebhook } from './inbound-webhook.tsx';
import { MailServerPart } from './mail-server.tsx';
import { Mailboxes } from './mailboxes.tsx';
import { Signatures } from './signatures.tsx';
import { Suppressions } from './suppressions.tsx';

export function Email({ item }: SectionProps): JSX.Element {
  return (
    <Section title="Email" intro="The addresses that receive email, and the domain that sends it.">
      <MailServerPart />
      <Mailboxes isReturn={item === 'mailbox'} />
      <InboundAddresses />
      <EmailDomainPart />
      <Signatures />
      <InboundWebhook />
      <Suppressions />
    </Section>
  );
}
