// Articles and pages that answers are taken from.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Knowledge(_props: SectionProps): JSX.Element {
  return (
    <Section title="Knowledge" intro="Articles and pages that answers are taken from.">
      <div />
    </Section>
  );
}
