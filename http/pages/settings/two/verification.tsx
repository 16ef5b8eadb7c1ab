// Codes that prove an address or a number, for your own sign-ins.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Verification(_props: SectionProps): JSX.Element {
  return (
    <Section title="Verification" intro="Codes that prove an address or a number, for your own sign-ins.">
      <div />
    </Section>
  );
}
