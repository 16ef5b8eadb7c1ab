import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Sites(_props: SectionProps): JSX.Element {
  return (
    <Section title="Sites">
      <div />
    </Section>
  );
}
