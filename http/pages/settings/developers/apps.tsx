// Apps that agents can allow by signing in here.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { notify } from '../../notices.ts';
import type { OAuthApp } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { AppDialog, type RegisteredApp } from './app-dialog.tsx';
import { keepOnce } from './once.ts';
import { scopeLabel } from './scopes.ts';
import { SecretOnce } from './secret-once.tsx';

type Doing = { readonly what: 'make' } | { readonly what: 'change' | 'rotate' | 'remove'; readonly app: OAuthApp };

const clientSecret = 'client secret';

export function Apps(_props: SectionProps): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ oauthApps: OAuthApp[] }>('GET', '/oauth-apps', { signal }),
    [],
  );
  const [doing, setDoing] = useState<Doing | undefined>(undefined);
  const done = (): void => setDoing(undefined);
  const saved = ({ clientSecret: secret, ...app }: RegisteredApp): void => {
    const apps = value?.oauthApps ?? [];
    set({
      oauthApps: apps.some(({ id }) => id === app.id)
        ? apps.map((one) => (one.id === app.id ? app : one))
        : [app, ...apps],
    });
    if (typeof secret === 'string') keepOnce({ what: clientSecret, name: app.name, secret });
    else notify({ kind: 'done', text: 'Saved.' });
    done();
  };
  return (
    <Section
      title="Apps"
      intro="OAuth 2 apps that agents can allow to act for them."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setDoing({ what: 'make' })}>
          Register an app
        </Button>
      }
    >
      <SecretOnce />
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : value.oauthApps.length === 0 ? (
        <div class="card">
          <Empty icon="link" title="No apps yet">
            <p>Register one so that your agents can allow it to act for them, within the permissions you choose.</p>
          </Empty>
        </div>
      ) : (
        <ul class="entries">
          {value.oauthApps.map((app) => (
            <AppCard key={app.id} app={app} onDo={(what) => setDoing({ what, app })} />
          ))}
        </ul>
      )}
      {(doing?.what === 'make' || doing?.what === 'change') && (
        <AppDialog app={doing.what === 'change' ? doing.app : undefined} onSaved={saved} onClose={done} />
      )}
      {doing?.what === 'rotate' && (
        <Confirm
          title={`Replace the secret of “${doing.app.name}”?`}
          action="Replace the secret"
          onConfirm={async () => {
            const { name } = doing.app;
            const answer = await call<RegisteredApp>('POST', `/oauth-apps/${doing.app.id}/rotate-secret`);
            keepOnce({ what: clientSecret, name, secret: answer.clientSecret ?? '' });
          }}
          onClose={done}
        >
          <p>The current secret stops working at once. Agents who allowed the app do not have to allow it again.</p>
        </Confirm>
      )}
      {doing?.what === 'remove' && (
        <Confirm
          title={`Delete “${doing.app.name}”?`}
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/oauth-apps/${doing.app.id}`);
            set({ oauthApps: (value?.oauthApps ?? []).filter(({ id }) => id !== doing.app.id) });
            notify({ kind: 'done', text: 'The app is deleted.' });
          }}
          onClose={done}
        >
          <p>It loses access for every agent who allowed it, and its webhooks are deleted.</p>
        </Confirm>
      )}
    </Section>
  );
}

function AppCard({
  app,
  onDo,
}: {
  readonly app: OAuthApp;
  readonly onDo: (what: 'change' | 'rotate' | 'remove') => void;
}): JSX.Element {
  return (
    <li class="card">
      <header>
        <div class="row">
          <h2>{app.name}</h2>
          <Badge kind={app.status === 'live' ? 'good' : undefined}>
            {app.status === 'live' ? 'Live' : 'In development'}
          </Badge>
          {app.public && <Badge>Without a secret</Badge>}
        </div>
        <div class="row">
          <Button small aria-label={`Change ${app.name}`} onClick={() => onDo('change')}>
            Change
          </Button>
          {!app.public && (
            <Button small aria-label={`Replace secret of ${app.name}`} onClick={() => onDo('rotate')}>
              Replace secret
            </Button>
          )}
          <Button small kind="danger" aria-label={`Delete ${app.name}`} onClick={() => onDo('remove')}>
            Delete
          </Button>
        </div>
      </header>
      <dl class="facts">
        <div class="wide">
          <dt>Client ID</dt>
          <dd>
            <Copyable text={app.clientId} label={`the client ID of ${app.name}`} />
          </dd>
        </div>
        <div>
          <dt>Redirects to</dt>
          <dd>
            <ul class="bullets">
              {app.redirectUris.map((uri) => (
                <li key={uri}>{uri}</li>
              ))}
            </ul>
          </dd>
        </div>
        <div>
          <dt>May ask for</dt>
          <dd>
            <ul class="bullets">
              {app.scopes.map((scope) => (
                <li key={scope}>{scopeLabel(scope)}</li>
              ))}
            </ul>
          </dd>
        </div>
      </dl>
      <p class="soft">
        Registered <Time at={app.createdAt} format={timeInSentence} />.
        {app.status === 'development' &&
          ' Only your own agents can allow it until the operator of this server makes it live.'}
      </p>
    </li>
  );
}
