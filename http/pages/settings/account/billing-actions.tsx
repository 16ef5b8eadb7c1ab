// Add-ons, a link to the provider's page, and cancelling the subscription.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Checkbox } from '../../design/field.tsx';
import { notify, notifyFailure } from '../../notices.ts';
import type { Standing } from '../../records.ts';
import { dayOf } from '../../times.ts';
import { Part } from '../parts.tsx';
import { isLive } from './billing-words.ts';
import { goTo } from './plans.tsx';

export function BillingActions({
  standing,
  onChanged,
}: {
  readonly standing: Standing;
  readonly onChanged: () => void;
}): JSX.Element | null {
  const [busy, setBusy] = useState<'addons' | 'portal' | undefined>(undefined);
  /** What was asked for, until the plan is read again. */
  const [wanted, setWanted] = useState<{ readonly ai: boolean; readonly since: Standing } | undefined>(undefined);
  const wantedAi = wanted?.since === standing ? wanted.ai : undefined;
  const [cancelling, setCancelling] = useState(false);
  const { subscription, addons } = standing;
  const doing = async (what: 'addons' | 'portal', work: () => Promise<void>): Promise<void> => {
    setBusy(what);
    try {
      await work();
    } catch (error) {
      setWanted(undefined);
      notifyFailure(error);
    }
    setBusy(undefined);
  };
  const setAi = (ai: boolean): Promise<void> =>
    doing('addons', async () => {
      setWanted({ ai, since: standing });
      await call('POST', '/billing/addons', { body: { addons: ai ? ['ai'] : [] } });
      notify({ kind: 'done', text: ai ? 'The AI add-on is on.' : 'The AI add-on is off.' });
      onChanged();
    });
  if (subscription === null) return null;
  return (
    <Part id="subscription" title="Add-ons and cancellation">
      {/* The add-on does nothing yet, so it is not sold; a workspace that has it can drop it. */}
      {addons.includes('ai') && (
        <Checkbox
          label="AI"
          hint="On your bill, but not available yet."
          checked={wantedAi ?? addons.includes('ai')}
          disabled={busy !== undefined || standing.locked}
          onChecked={(next) => void setAi(next)}
        />
      )}
      <div class="row">
        <Button
          busy={busy === 'portal'}
          onClick={() =>
            void doing('portal', async () => goTo((await call<{ url: string }>('POST', '/billing/portal')).url))
          }
        >
          Payment method
        </Button>
        {isLive(standing) && (
          <Button kind="danger" onClick={() => setCancelling(true)}>
            {subscription.status === 'trialing' ? 'End the trial' : 'Cancel the subscription'}
          </Button>
        )}
      </div>
      {cancelling && (
        <Confirm
          title={subscription.status === 'trialing' ? 'End the trial now?' : 'Cancel the subscription?'}
          action={subscription.status === 'trialing' ? 'End the trial' : 'Cancel the subscription'}
          onConfirm={async () => {
            await call('POST', '/billing/cancel');
            onChanged();
          }}
          onClose={() => setCancelling(false)}
        >
          <p>
            {subscription.status === 'trialing'
              ? 'Your workspace is locked at once. Nothing is lost, and choosing a plan unlocks it.'
              : `Everything works until ${dayOf(subscription.currentPeriodEnd)}. ` +
                'After that, your workspace is locked. Nothing is lost, and choosing a plan unlocks it.'}
          </p>
        </Confirm>
      )}
    </Part>
  );
}
