// Campaigns: messages shown to visitors automatically. The list with the results of each, and one by its id.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { ButtonLink } from '../../design/button.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import { useResource } from '../../design/resource.ts';
import { navigate, query, setQuery } from '../../location.ts';
import type { Campaign } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { countOf } from '../../times.ts';
import { Section, type SectionProps } from '../section.tsx';
import { rulesInWords, shareOf } from './campaign.ts';
import { ArchiveCampaign, campaignItems, LiveButton, StatusBadge } from './campaign-actions.tsx';
import { CampaignPage } from './campaign-page.tsx';
import { Figure } from './figure.tsx';

export function Campaigns({ item }: SectionProps): JSX.Element {
  return item === undefined ? (
    <CampaignList />
  ) : (
    <CampaignPage key={item} campaignId={item === 'new' ? undefined : item} />
  );
}

const filters = [
  { value: '', label: 'All except archived' },
  { value: 'live', label: 'Live' },
  { value: 'paused', label: 'Paused' },
  { value: 'draft', label: 'Drafts' },
  { value: 'archived', label: 'Archived' },
] as const;

function CampaignList(): JSX.Element {
  const isAdmin = hasRole('admin');
  const [archiving, setArchiving] = useState<Campaign | undefined>(undefined);
  const status = filters.find(({ value }) => value === query.value.get('status'))?.value ?? '';
  const campaigns = useResource(
    async (signal) =>
      (await call<{ campaigns: Campaign[] }>('GET', '/campaigns', { query: { status }, signal })).campaigns,
    [status],
  );
  useCommands(
    () =>
      isAdmin
        ? [
            {
              id: 'campaign.create',
              title: 'Add a campaign',
              group: 'This page',
              keys: ['n'],
              run: () => navigate('/settings/campaigns/new'),
            },
          ]
        : [],
    [isAdmin],
  );
  const shown = campaigns.value?.filter((campaign) => status !== '' || campaign.status !== 'archived');
  return (
    <Section
      title="Campaigns"
      intro="Messages that appear to visitors on the pages and at the moment you choose. Figures are for the last 30 days."
      actions={
        isAdmin && (
          <ButtonLink kind="primary" icon="plus" href="/settings/campaigns/new">
            Add a campaign
          </ButtonLink>
        )
      }
    >
      <div class="list-tools">
        <SelectField label="Show" value={status} choices={filters} onValue={(value) => setQuery({ status: value })} />
      </div>
      {campaigns.failure !== undefined && <Failure error={campaigns.failure} retry={campaigns.reload} />}
      {shown === undefined && campaigns.failure === undefined && <Loading />}
      {shown?.length === 0 && (
        <Empty icon="megaphone" title={status === '' ? 'No campaigns yet' : 'No matching campaigns'}>
          <p>Reach out at the right moment: on the pricing page, after 30 seconds, “May I help?”</p>
        </Empty>
      )}
      {shown !== undefined && shown.length > 0 && (
        <ul class="stack">
          {shown.map((campaign) => (
            <CampaignRow key={campaign.id} campaign={campaign} onArchive={setArchiving} onChanged={campaigns.reload} />
          ))}
        </ul>
      )}
      {archiving !== undefined && (
        <ArchiveCampaign campaign={archiving} onClose={() => setArchiving(undefined)} onDone={campaigns.reload} />
      )}
    </Section>
  );
}

function CampaignRow({
  campaign,
  onArchive,
  onChanged,
}: {
  readonly campaign: Campaign;
  readonly onArchive: (campaign: Campaign) => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const { name, status, stats, triggerRules } = campaign;
  return (
    <li class="card compact">
      <header>
        <h2 class="row">
          <a href={`/settings/campaigns/${campaign.id}`}>{name}</a> <StatusBadge status={status} />
        </h2>
        {hasRole('admin') && (
          <div class="row">
            <LiveButton small campaign={campaign} onChanged={onChanged} />
            <Menu
              label={`Actions for ${name}`}
              class="button quiet icon-only small"
              items={campaignItems(campaign, onArchive)}
            >
              <Icon name="more" />
            </Menu>
          </div>
        )}
      </header>
      <p class="soft rules">{rulesInWords(triggerRules)}.</p>
      <dl class="figures">
        <Figure label="Shown" value={countOf(stats.impressions)} />
        <Figure label="Clicked" value={countOf(stats.clicks)} more={shareOf(stats.clicks, stats.impressions)} />
        <Figure
          label="Chats started"
          value={countOf(stats.startedChats)}
          more={shareOf(stats.startedChats, stats.impressions)}
        />
      </dl>
    </li>
  );
}
