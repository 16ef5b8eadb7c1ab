// One campaign: its texts, when and where it shows, and a preview of the card. Supervisors can read it, admins can
// change it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { ButtonLink } from '../../design/button.tsx';
import { Banner, Empty, Failure, Loading } from '../../design/feedback.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Form, type FormState, useForm } from '../../design/form.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import { useResource } from '../../design/resource.ts';
import { same } from '../../design/three-way.ts';
import { navigate } from '../../location.ts';
import { notify } from '../../notices.ts';
import type { Campaign, CampaignFrequency, Site } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { SaveLine } from '../save-line.tsx';
import { Section } from '../section.tsx';
import { type CampaignValues, contentOf, frequencyNames, rulesInWords, rulesOf, valuesOf } from './campaign.ts';
import { ArchiveCampaign, campaignItems, LiveButton, StatusBadge } from './campaign-actions.tsx';
import { CampaignPreview } from './campaign-card.tsx';
import { QuickReplyFields } from './quick-replies.tsx';
import { SenderFields } from './sender-fields.tsx';
import { UrlMatchFields } from './url-match.tsx';

interface Read {
  readonly campaign: Campaign | undefined;
  readonly siteName: string;
}

async function readCampaign(campaignId: string | undefined, signal: AbortSignal): Promise<Read> {
  const [campaign, { sites }] = await Promise.all([
    campaignId === undefined ? undefined : call<Campaign>('GET', `/campaigns/${campaignId}`, { signal }),
    call<{ sites: Site[] }>('GET', '/sites', { query: { limit: 1 }, signal }),
  ]);
  return { campaign, siteName: sites[0]?.name ?? 'Your site' };
}

export function CampaignPage({ campaignId }: { readonly campaignId: string | undefined }): JSX.Element {
  const [archiving, setArchiving] = useState(false);
  const read = useResource((signal) => readCampaign(campaignId, signal), [campaignId]);
  const campaign = read.value?.campaign;
  const isGone = read.failure instanceof ApiError && read.failure.status === 404;
  return (
    <Section
      title={campaign?.name ?? (campaignId === undefined ? 'New campaign' : 'Campaign')}
      back={{ href: '/settings/campaigns', label: 'All campaigns' }}
      actions={
        campaign !== undefined && (
          <>
            <StatusBadge status={campaign.status} />
            {hasRole('admin') && (
              <>
                <LiveButton campaign={campaign} onChanged={read.reload} />
                <Menu
                  label="More actions"
                  class="button quiet icon-only"
                  items={campaignItems(campaign, () => setArchiving(true))}
                >
                  <Icon name="more" size={18} />
                </Menu>
              </>
            )}
          </>
        )
      }
    >
      {isGone && (
        <Empty icon="megaphone" title="This campaign does not exist">
          <ButtonLink href="/settings/campaigns">All campaigns</ButtonLink>
        </Empty>
      )}
      {read.failure !== undefined && !isGone && <Failure error={read.failure} retry={read.reload} />}
      {read.value === undefined && read.failure === undefined && <Loading lines={8} />}
      {read.value !== undefined && (
        <CampaignForm
          key={campaignId ?? 'new'}
          campaign={campaign}
          siteName={read.value.siteName}
          onSaved={(saved) => read.set({ campaign: saved, siteName: read.value?.siteName ?? '' })}
        />
      )}
      {archiving && campaign !== undefined && (
        <ArchiveCampaign campaign={campaign} onClose={() => setArchiving(false)} onDone={read.reload} />
      )}
    </Section>
  );
}

function CampaignForm({
  campaign,
  siteName,
  onSaved,
}: {
  readonly campaign: Campaign | undefined;
  readonly siteName: string;
  readonly onSaved: (campaign: Campaign) => void;
}): JSX.Element {
  const mayWrite = hasRole('admin') && campaign?.status !== 'archived';
  const form = useForm<CampaignValues>(valuesOf(campaign), async (values) => {
    const body = { name: values.name, triggerRules: rulesOf(values), content: contentOf(values) };
    const saved =
      campaign === undefined
        ? await call<Campaign>('POST', '/campaigns', { body })
        : await call<Campaign>('PATCH', `/campaigns/${campaign.id}`, { body });
    if (campaign === undefined) {
      notify({ kind: 'done', text: 'Saved as a draft. Set it live when you are ready.' });
      navigate(`/settings/campaigns/${saved.id}`, { replace: true });
      return;
    }
    form.reset(valuesOf(saved));
    onSaved(saved);
    notify({
      kind: 'done',
      text: saved.status === 'live' ? 'Saved. Visitors see it on the next page they open.' : 'Saved.',
    });
  });
  const { values } = form;
  const changed = !same(values, valuesOf(campaign));
  return (
    <Form
      form={form}
      label="The campaign"
      actions={
        mayWrite && (
          <SaveLine
            busy={form.busy}
            label={campaign === undefined ? 'Save as draft' : 'Save'}
            changed={changed && campaign !== undefined}
          />
        )
      }
    >
      {campaign?.status === 'archived' && <Banner>This campaign is archived. To change it, duplicate it.</Banner>}
      {!hasRole('admin') && <Banner>Only an admin can change this campaign.</Banner>}
      <fieldset class="plain-fieldset" disabled={!mayWrite}>
        <section class="card" aria-labelledby="campaign-says">
          <h2 id="campaign-says">Message</h2>
          <div class="beside">
            <SayFields form={form} />
            <CampaignPreview values={values} siteName={siteName} />
          </div>
        </section>
        <section class="card" aria-labelledby="campaign-when">
          <h2 id="campaign-when">When to show it</h2>
          <WhenFields form={form} />
          <p class="rules-said" role="status">
            {rulesInWords(rulesOf(values))}.
          </p>
        </section>
      </fieldset>
    </Form>
  );
}

function SayFields({ form }: { readonly form: FormState<CampaignValues> }): JSX.Element {
  const { values } = form;
  return (
    <div class="stack">
      <TextField
        label="Name"
        required
        maxLength={120}
        value={values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
        hint="Visitors do not see it."
      />
      <TextArea
        label="Text"
        required
        rows={4}
        maxLength={2000}
        value={values.body}
        onValue={(value) => form.set('body', value)}
        error={form.errorOf('content.body')}
      />
      <SenderFields form={form} />
      <QuickReplyFields
        replies={values.quickReplies}
        onReplies={(replies) => form.set('quickReplies', replies)}
        errorOf={(path) => form.errorOf(`content.quickReplies${path}`)}
      />
    </div>
  );
}

const frequencies = (['once', 'session', 'always'] as const).map((value: CampaignFrequency) => ({
  value,
  label: `${frequencyNames[value].charAt(0).toUpperCase()}${frequencyNames[value].slice(1)}`,
}));

function WhenFields({ form }: { readonly form: FormState<CampaignValues> }): JSX.Element {
  const { values } = form;
  return (
    <div class="stack">
      <Checkbox label="On every page" checked={values.everyPage} onChecked={(value) => form.set('everyPage', value)} />
      {!values.everyPage && (
        <UrlMatchFields
          match={values.urlMatch}
          onMatch={(value) => form.set('urlMatch', value)}
          errorOf={(name) => form.errorOf(`triggerRules.urlMatch.${name}`)}
        />
      )}
      <div class="columns">
        <TextField
          label="After seconds on the page"
          type="number"
          inputMode="decimal"
          min={0}
          max={600}
          step="any"
          value={values.showAfterSeconds}
          onValue={(value) => form.set('showAfterSeconds', value)}
          error={secondsError(form.errorOf('triggerRules.showAfterMs'))}
        />
        <TextField
          label="After scrolling, in %"
          type="number"
          inputMode="numeric"
          min={0}
          max={100}
          step={1}
          value={values.scrollDepthPct}
          onValue={(value) => form.set('scrollDepthPct', value)}
          error={form.errorOf('triggerRules.scrollDepthPct')}
        />
        <SelectField
          label="How often"
          value={values.frequency}
          choices={frequencies}
          onValue={(value) => form.set('frequency', value)}
          error={form.errorOf('triggerRules.frequency')}
          hint="A visit ends after 30 minutes without opening a page."
        />
      </div>
      <Checkbox
        label="When the pointer leaves the page"
        hint="When it moves towards the tabs or the address bar. This never happens on phones."
        checked={values.exitIntent}
        onChecked={(value) => form.set('exitIntent', value)}
      />
      <Checkbox
        label="Only while you are open"
        checked={values.officeHoursOnly}
        onChecked={(value) => form.set('officeHoursOnly', value)}
      />
    </div>
  );
}

/** The service counts milliseconds, the field seconds. */
function secondsError(error: string | undefined): string | undefined {
  return error === undefined ? undefined : 'Enter 0 to 600 seconds.';
}
