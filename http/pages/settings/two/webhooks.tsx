// Addresses of yours that are told what happens.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function Webhooks(_props: SectionProps): JSX.Element {
  return (
    <Section title="Webhooks" intro="Addresses of yours that are told what happens.">
      <div />
    </Section>
  );
}
