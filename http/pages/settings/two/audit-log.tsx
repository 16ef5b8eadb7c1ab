// Who changed what, and when.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function AuditLog(_props: SectionProps): JSX.Element {
  return (
    <Section title="Audit log" intro="Who changed what, and when.">
      <div />
    </Section>
  );
}
