// The plan, its seats, and what was paid.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Billing(_props: SectionProps): JSX.Element {
  return (
    <Section title="Billing" intro="The plan, its seats, and what was paid.">
      <div />
    </Section>
  );
}
