// Apps that agents may let in by signing in here.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Apps(_props: SectionProps): JSX.Element {
  return (
    <Section title="Apps" intro="Apps that agents may let in by signing in here.">
      <div />
    </Section>
  );
}
