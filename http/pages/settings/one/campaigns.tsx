import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Campaigns(_props: SectionProps): JSX.Element {
  return (
    <Section title="Campaigns">
      <div />
    </Section>
  );
}
