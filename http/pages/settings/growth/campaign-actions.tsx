// Actions on a campaign: set live, pause, copy, archive. The list and its page share them.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge } from '../../design/feedback.tsx';
import type { MenuItem } from '../../design/menu.tsx';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Campaign, CampaignStatus } from '../../records.ts';
import { statusNames } from './campaign.ts';

const statusKinds: Readonly<Record<CampaignStatus, 'good' | 'warn' | 'accent' | undefined>> = {
  live: 'good',
  paused: 'warn',
  draft: 'accent',
  archived: undefined,
};
export function StatusBadge({ status }: { readonly status: CampaignStatus }): JSX.Element {
  const kind = statusKinds[status];
  return <Badge {...(kind === undefined ? {} : { kind })}>{statusNames[status]}</Badge>;
}

export function ArchiveCampaign({
  campaign,
  onClose,
  onDone,
}: {
  readonly campaign: Campaign;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  return (
    <Confirm
      title={`Archive “${campaign.name}”?`}
      action="Archive"
      onClose={onClose}
      onConfirm={async () => {
        await call('DELETE', `/campaigns/${campaign.id}`);
        notify({ kind: 'done', text: `“${campaign.name}” is archived.` });
        onDone();
      }}
    >
      <p>Visitors no longer see it, and it can no longer be changed. Its figures are kept, and you can copy it.</p>
    </Confirm>
  );
}

/** Sets it live, or pauses it. */
export function LiveButton({
  campaign,
  small = false,
  onChanged,
}: {
  readonly campaign: Campaign;
  readonly small?: boolean;
  readonly onChanged: () => void;
}): JSX.Element | null {
  const [busy, setBusy] = useState(false);
  if (campaign.status === 'archived') return null;
  const isLive = campaign.status === 'live';
  const move = async (): Promise<void> => {
    setBusy(true);
    await moveCampaign(campaign, isLive ? 'paused' : 'live', onChanged);
    setBusy(false);
  };
  return (
    <Button
      small={small}
      kind={isLive ? 'plain' : 'primary'}
      icon={isLive ? 'pause' : 'play'}
      busy={busy}
      onClick={() => void move()}
    >
      {isLive ? 'Pause' : 'Go live'}
    </Button>
  );
}

/** The other actions that its present state allows. */
export function campaignItems(campaign: Campaign, onArchive: (campaign: Campaign) => void): readonly MenuItem[] {
  const items: MenuItem[] = [{ label: 'Duplicate', run: () => void copyCampaign(campaign) }];
  if (campaign.status !== 'archived')
    items.push({ kind: 'line' }, { label: 'Archive', danger: true, run: () => onArchive(campaign) });
  return items;
}

async function moveCampaign(campaign: Campaign, status: 'live' | 'paused', onChanged: () => void): Promise<void> {
  try {
    await call('PATCH', `/campaigns/${campaign.id}`, { body: { status } });
    notify({
      kind: 'done',
      text:
        status === 'live'
          ? `“${campaign.name}” is live. Visitors see it on the next page they open.`
          : `“${campaign.name}” is paused.`,
    });
    onChanged();
  } catch (error) {
    notifyFailure(error);
  }
}

async function copyCampaign(campaign: Campaign): Promise<void> {
  try {
    const copy = await call<Campaign>('POST', `/campaigns/${campaign.id}/duplicate`);
    notify({ kind: 'done', text: 'Copied as a draft.' });
    navigate(`/settings/campaigns/${copy.id}`);
  } catch (error) {
    notifyFailure(error);
  }
}
