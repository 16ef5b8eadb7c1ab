import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Goals(_props: SectionProps): JSX.Element {
  return (
    <Section title="Goals">
      <div />
    </Section>
  );
}
