import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Departments(_props: SectionProps): JSX.Element {
  return (
    <Section title="Departments">
      <div />
    </Section>
  );
}
