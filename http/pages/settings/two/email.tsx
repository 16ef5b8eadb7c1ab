// The addresses that mail comes in by, and the domain it goes out from.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Email(_props: SectionProps): JSX.Element {
  return (
    <Section title="Email" intro="The addresses that mail comes in by, and the domain it goes out from.">
      <div />
    </Section>
  );
}
