// One-time codes that verify an address or number, for the workspace's own sign-ins.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { useResource } from '../../design/resource.ts';
import { SecretOnce } from '../developers/secret-once.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { Verifications } from './verifications.tsx';
import { Credits } from './verify-credits.tsx';
import { type ServiceList, VerifyServices } from './verify-services.tsx';
import { VerifyWebhooks } from './verify-webhooks.tsx';

export function Verification(_props: SectionProps): JSX.Element {
  const list = useResource<ServiceList>((signal) => call('GET', '/verify/services', { signal }), []);
  return (
    <Section
      title="Verification"
      intro={
        <>
          One-time codes that verify an email address or phone number, for your own sign-ins. Your programs send and
          check them with an <a href="/settings/api-keys">API key</a>.
        </>
      }
    >
      <SecretOnce />
      <VerifyServices list={list} />
      <Credits />
      <VerifyWebhooks />
      <Verifications services={list.value?.services} />
    </Section>
  );
}
