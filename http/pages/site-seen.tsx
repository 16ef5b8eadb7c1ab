// Whether a site's widget has shown up, where it was refused, and a button that allows it there.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from './api.ts';
import { Button } from './design/button.tsx';
import { Badge, Banner } from './design/feedback.tsx';
import { Time } from './design/time.tsx';
import { notify, notifyFailure } from './notices.ts';
import type { Site } from './records.ts';

interface SiteSeenProps {
  readonly site: Site;
  readonly onChanged: (site: Site) => void;
}

export function SiteSeen({ site, onChanged }: SiteSeenProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const look = async (): Promise<void> => {
    setBusy(true);
    await call<Site>('GET', `/sites/${site.id}`).then(onChanged, notifyFailure);
    setBusy(false);
  };
  return (
    <div class="stack">
      <div class="row" role="status">
        {site.lastSeenAt === null ? (
          <span class="soft">Not seen on your website yet. Open a page that has the line.</span>
        ) : (
          <>
            <Badge kind="good">Seen</Badge>
            <span>
              on {site.lastSeenHost}, <Time at={site.lastSeenAt} />
            </span>
          </>
        )}
        <Button small kind="quiet" busy={busy} onClick={() => void look()}>
          Look again
        </Button>
      </div>
      {site.refusedHosts.length > 0 && <Refused site={site} onChanged={onChanged} />}
    </div>
  );
}

function Refused({ site, onChanged }: SiteSeenProps): JSX.Element {
  const [allowing, setAllowing] = useState<string | undefined>(undefined);
  const allow = async (host: string): Promise<void> => {
    setAllowing(host);
    try {
      const { allowedOrigins, version } = site;
      onChanged(
        await call<Site>('PATCH', `/sites/${site.id}`, {
          body: { allowedOrigins: [...allowedOrigins, host], expectedVersion: version },
        }),
      );
      notify({ kind: 'done', text: `The chat is allowed on ${host}. Reload that page to see it.` });
    } catch (error) {
      notifyFailure(error);
    }
    setAllowing(undefined);
  };
  return (
    <Banner kind="warn">
      <p>The chat was asked for on pages where it is not allowed. Allow only your own:</p>
      <ul class="stack">
        {site.refusedHosts.map(({ host, at }) => (
          <li key={host} class="row">
            <span>
              {host}, <Time at={at} />
            </span>
            <Button small busy={allowing === host} onClick={() => void allow(host)}>
              Allow {host}
            </Button>
          </li>
        ))}
      </ul>
    </Banner>
  );
}
