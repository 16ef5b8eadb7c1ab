// Keys by which your own programs ask the API.

import type { JSX } from 'preact';
import { Section, type SectionProps } from '../section.tsx';

export function ApiKeys(_props: SectionProps): JSX.Element {
  return (
    <Section title="API keys" intro="Keys by which your own programs ask the API.">
      <div />
    </Section>
  );
}
