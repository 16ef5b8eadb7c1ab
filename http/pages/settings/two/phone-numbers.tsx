// The numbers that customers call, and where each of them rings.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function PhoneNumbers(_props: SectionProps): JSX.Element {
  return (
    <Section title="Phone numbers" intro="The numbers that customers call, and where each of them rings.">
      <div />
    </Section>
  );
}
