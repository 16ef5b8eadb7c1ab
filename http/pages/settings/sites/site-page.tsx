// One site: the install line, the widget's look with a preview, who may use it, and its hours.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hostOf } from '../../addresses.ts';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button, ButtonLink } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { Form } from '../../design/form.tsx';
import { type Resource, useResource } from '../../design/resource.ts';
import { ChangedMeanwhile, useVersionedForm, type VersionedForm } from '../../design/versioned.tsx';
import { notify } from '../../notices.ts';
import type { Site } from '../../records.ts';
import { SiteSeen } from '../../site-seen.tsx';
import { snippetOf } from '../../snippet.ts';
import { filled } from '../filled-rows.ts';
import { counted } from '../labels.ts';
import { SaveLine } from '../save-line.tsx';
import { Section } from '../section.tsx';
import { weekInWords } from '../workspace/week.ts';
import { normalHex } from './colour.ts';
import { AddressFields, AnswerFields, AssistantFields, HoursFields, LookFields, PlaceFields } from './site-fields.tsx';
import type { SiteValues } from './site-values.ts';
import { WidgetPreview } from './widget-preview.tsx';

const labels: Readonly<Record<keyof SiteValues, string>> = {
  name: 'The name',
  domain: 'The website',
  primaryColor: 'The colour',
  launcherPosition: 'The button position',
  welcomeMessage: 'The welcome message',
  onlineMessage: 'The sentence while someone is there',
  awayMessage: 'The sentence while no one is there',
  closedMessage: 'The sentence outside your hours',
  theme: 'Light or dark',
  logoUrl: 'The logo',
  launcherSidePx: 'The distance from the side',
  launcherBottomPx: 'The distance from the bottom',
  hiddenOnPhones: 'Whether phones have the button',
  assistantTurns: 'The number of automatic answers',
  allowedOrigins: 'The allowed pages',
  businessHoursOverride: 'The separate hours',
};

function show(name: keyof SiteValues, values: SiteValues): string {
  if (name === 'allowedOrigins') return values.allowedOrigins.join(', ');
  if (name === 'businessHoursOverride')
    return values.businessHoursOverride === null
      ? 'none'
      : `${weekInWords(values.businessHoursOverride.days)}, ${counted(values.businessHoursOverride.holidays?.length ?? 0, 'holiday')}`;
  if (name === 'logoUrl') return values.logoUrl ?? 'none';
  if (name === 'hiddenOnPhones') return values.hiddenOnPhones ? 'no' : 'yes';
  return values[name];
}

function valuesOf({
  name,
  domain,
  primaryColor,
  launcherPosition,
  welcomeMessage,
  onlineMessage,
  awayMessage,
  closedMessage,
  theme,
  logoUrl,
  launcherSidePx,
  launcherBottomPx,
  hiddenOnPhones,
  assistantTurns,
  allowedOrigins,
  businessHoursOverride,
}: Site): SiteValues {
  return {
    name,
    domain,
    primaryColor,
    launcherPosition,
    welcomeMessage,
    onlineMessage,
    awayMessage,
    closedMessage,
    theme,
    logoUrl,
    launcherSidePx: String(launcherSidePx),
    launcherBottomPx: String(launcherBottomPx),
    hiddenOnPhones,
    assistantTurns: String(assistantTurns),
    allowedOrigins,
    businessHoursOverride,
  };
}

export function SitePage({ siteId }: { readonly siteId: string }): JSX.Element {
  const site = useResource((signal) => call<Site>('GET', `/sites/${siteId}`, { signal }), [siteId]);
  const isGone = site.failure instanceof ApiError && site.failure.status === 404;
  return (
    <Section title={site.value?.name ?? 'Site'} back={{ href: '/settings/sites', label: 'All sites' }}>
      {isGone && (
        <Empty icon="globe" title="This site does not exist">
          <ButtonLink href="/settings/sites">All sites</ButtonLink>
        </Empty>
      )}
      {site.failure !== undefined && !isGone && <Failure error={site.failure} retry={site.reload} />}
      {site.value === undefined && site.failure === undefined && <Loading lines={8} />}
      {site.value !== undefined && <SiteParts site={site.value} resource={site} />}
    </Section>
  );
}

function SiteParts({ site, resource }: { readonly site: Site; readonly resource: Resource<Site> }): JSX.Element {
  const form: VersionedForm<SiteValues> = useVersionedForm<Site, SiteValues>({
    record: site,
    valuesOf,
    save: (values, expectedVersion) =>
      call<Site>('PATCH', `/sites/${site.id}`, { body: { ...bodyOf(values), expectedVersion } }),
    read: () => call<Site>('GET', `/sites/${site.id}`),
    refusedAt: { conflict: 'domain' },
    onSaved: (saved) => {
      resource.set(saved);
      notify({ kind: 'done', text: 'Saved. Visitors see it on the next page they open.' });
    },
  });
  const { values } = form;
  return (
    <>
      <section class="card" aria-labelledby="site-snippet">
        <h2 id="site-snippet">Install the widget</h2>
        <p class="soft">Add this line before the closing body tag of each page where you want the chat.</p>
        <Copyable label="the snippet" text={snippetOf(site)} />
        <SiteSeen site={site} onChanged={resource.set} />
      </section>
      <Form form={form} label="The site" actions={<SaveLine busy={form.busy} changed={form.changed} />}>
        <ChangedMeanwhile form={form} labels={labels} show={show} />
        <section class="card" aria-labelledby="site-look">
          <h2 id="site-look">Appearance</h2>
          <div class="beside">
            <LookFields form={form} />
            <WidgetPreview
              name={values.name}
              colour={normalHex(values.primaryColor)}
              position={values.launcherPosition}
              welcome={values.welcomeMessage}
              sentence={values.onlineMessage}
              logo={values.logoUrl}
            />
          </div>
        </section>
        <section class="card" aria-labelledby="site-place">
          <h2 id="site-place">Button</h2>
          <PlaceFields form={form} />
        </section>
        <section class="card" aria-labelledby="site-words">
          <h2 id="site-words">When you answer</h2>
          <AnswerFields form={form} />
        </section>
        <section class="card" aria-labelledby="site-assistant">
          <h2 id="site-assistant">Assistant</h2>
          <AssistantFields form={form} />
        </section>
        <section class="card" aria-labelledby="site-addresses">
          <h2 id="site-addresses">Allowed pages</h2>
          <AddressFields form={form} />
        </section>
        <section class="card" aria-labelledby="site-hours">
          <h2 id="site-hours">Hours</h2>
          <HoursFields form={form} />
        </section>
      </Form>
      <TryIt site={site} hasChanges={form.changed} />
    </>
  );
}

/** In the API's form. A pasted text with more around it is reduced to the essential part. */
function bodyOf(values: SiteValues): object {
  return {
    ...values,
    domain: hostOf(values.domain),
    primaryColor: normalHex(values.primaryColor),
    launcherSidePx: Number(values.launcherSidePx),
    launcherBottomPx: Number(values.launcherBottomPx),
    assistantTurns: Number(values.assistantTurns),
    allowedOrigins: filled(values.allowedOrigins),
  };
}

function TryIt({ site, hasChanges }: { readonly site: Site; readonly hasChanges: boolean }): JSX.Element {
  const [round, setRound] = useState(0);
  const address = `/preview/${encodeURIComponent(site.embedId)}`;
  return (
    <section class="card" aria-labelledby="site-try">
      <header>
        <h2 id="site-try">Try it live</h2>
        <div class="row">
          {round > 0 && <Button onClick={() => setRound(round + 1)}>Reload</Button>}
          <a href={address} target="_blank" rel="noreferrer">
            Open in a new window
          </a>
        </div>
      </header>
      <p class="soft">
        The real widget, as saved{hasChanges ? '; save to see your changes in it' : ''}. Messages you send in it start a
        real conversation.
      </p>
      {round === 0 ? (
        <div>
          <Button icon="play" onClick={() => setRound(1)}>
            Show the widget
          </Button>
        </div>
      ) : (
        <iframe
          key={`${round}-${site.version}`}
          class="preview-frame"
          title={`A page with the widget of ${site.name}`}
          src={address}
        />
      )}
    </section>
  );
}
