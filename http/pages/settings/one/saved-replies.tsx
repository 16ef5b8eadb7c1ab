import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function SavedReplies(_props: SectionProps): JSX.Element {
  return (
    <Section title="Saved replies">
      <div />
    </Section>
  );
}
