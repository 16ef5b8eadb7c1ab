// Allowed apps, with a way to withdraw access: one's own, and for admins everyone's.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { notify } from '../../notices.ts';
import { agentName } from '../../people.ts';
import type { OAuthGrant } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { timeInSentence } from '../../times.ts';
import { Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { scopeLabel } from './scopes.ts';

export function AllowedApps(_props: SectionProps): JSX.Element {
  const seesAll = hasRole('admin');
  const path = seesAll ? '/oauth-grants' : '/me/grants';
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ grants: OAuthGrant[] }>('GET', path, { signal }),
    [path],
  );
  const [withdrawing, setWithdrawing] = useState<OAuthGrant | undefined>(undefined);
  const isOwn = ({ agentId }: OAuthGrant): boolean => agentId === me.value?.agent.id;
  const grants = [...(value?.grants ?? [])].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
  return (
    <Section
      title="Allowed apps"
      intro={`Apps that you${seesAll ? ' and your colleagues' : ''} have allowed. Each acts on behalf of the agent who allowed it, until access is withdrawn.`}
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : grants.length === 0 ? (
        <div class="card">
          <Empty icon="link" title="No apps are allowed">
            <p>When an app asks for access, you see what it wants before you decide.</p>
          </Empty>
        </div>
      ) : (
        <ul class="entries">
          {grants.map((grant) => (
            <GrantCard
              key={grant.id}
              grant={grant}
              by={isOwn(grant) ? 'you' : agentName(grant.agentId)}
              onWithdraw={() => setWithdrawing(grant)}
            />
          ))}
        </ul>
      )}
      {withdrawing !== undefined && (
        <Confirm
          title={`Withdraw access for “${withdrawing.appName}”?`}
          action="Withdraw access"
          onConfirm={async () => {
            await call('DELETE', `${path}/${withdrawing.id}`);
            set({ grants: grants.filter(({ id }) => id !== withdrawing.id) });
            notify({ kind: 'done', text: 'Access is withdrawn.' });
          }}
          onClose={() => setWithdrawing(undefined)}
        >
          <p>
            It can no longer act on behalf of{' '}
            {isOwn(withdrawing) ? 'you' : `${agentName(withdrawing.agentId)}, who is notified by email`}. To restore
            access, allow it again.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

function GrantCard({
  grant,
  by,
  onWithdraw,
}: {
  readonly grant: OAuthGrant;
  readonly by: string;
  readonly onWithdraw: () => void;
}): JSX.Element {
  return (
    <li class="card">
      <header>
        <h2>{grant.appName}</h2>
        <Button
          small
          kind="danger"
          aria-label={`Withdraw access for ${grant.appName}, allowed by ${by}`}
          onClick={onWithdraw}
        >
          Withdraw access
        </Button>
      </header>
      <ul class="bullets">
        {grant.scopes.map((scope) => (
          <li key={scope}>{scopeLabel(scope)}</li>
        ))}
      </ul>
      <p class="soft">
        Allowed by {by} <Time at={grant.createdAt} format={timeInSentence} />,{' '}
        {grant.lastUsedAt === null ? (
          'not used yet'
        ) : (
          <>
            last used <Time at={grant.lastUsedAt} format={timeInSentence} />
          </>
        )}
        .
      </p>
    </li>
  );
}
