import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Agents(_props: SectionProps): JSX.Element {
  return (
    <Section title="Agents">
      <div />
    </Section>
  );
}
