import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function WorkspaceSettings(_props: SectionProps): JSX.Element {
  return (
    <Section title="Workspace">
      <div />
    </Section>
  );
}
