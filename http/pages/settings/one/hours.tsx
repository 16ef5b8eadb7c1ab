import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Hours(_props: SectionProps): JSX.Element {
  return (
    <Section title="Business hours">
      <div />
    </Section>
  );
}
