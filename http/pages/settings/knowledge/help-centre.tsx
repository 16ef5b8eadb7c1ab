// The public help centre: turned on or off, its address, and what its readers searched for in vain.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Empty } from '../../design/feedback.tsx';
import { Checkbox } from '../../design/field.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { notifyFailure } from '../../notices.ts';
import type { FruitlessSearch, KbSettings } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { Part, Reading } from '../parts.tsx';
import { HelpLook } from './help-look.tsx';

export function HelpCentre(): JSX.Element {
  const settings = useResource<KbSettings>((signal) => call('GET', '/kb/settings', { signal }), []);
  return (
    <>
      <Part
        id="help"
        title="Help centre"
        intro="Customers find your published articles on pages of their own, with a search. Pages you imported are not shown there."
      >
        {settings.value === undefined ? (
          <Reading failure={settings.failure} retry={settings.reload} what="Knowledge bases" />
        ) : (
          <Public settings={settings.value} onChanged={settings.set} />
        )}
      </Part>
      {settings.value?.helpCentre === true && (
        <>
          {hasRole('admin') && <HelpLook settings={settings.value} onChanged={settings.set} />}
          <Fruitless />
        </>
      )}
    </>
  );
}

function Public({
  settings: { helpCentre, helpCentreUrl },
  onChanged,
}: {
  readonly settings: KbSettings;
  readonly onChanged: (settings: KbSettings) => void;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const turn = async (on: boolean): Promise<void> => {
    setBusy(true);
    try {
      onChanged(await call<KbSettings>('PATCH', '/kb/settings', { body: { helpCentre: on } }));
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      {hasRole('admin') ? (
        <Checkbox
          label="Show published articles to everyone"
          checked={helpCentre}
          disabled={busy}
          onChecked={(on) => void turn(on)}
        />
      ) : (
        <p>{helpCentre ? 'Published articles are shown to everyone.' : 'The help centre is off.'}</p>
      )}
      {helpCentre && (
        <>
          <Copyable text={helpCentreUrl} label="the address" />
          <p>
            <a href={helpCentreUrl} target="_blank" rel="noreferrer">
              Open the help centre
            </a>
          </p>
        </>
      )}
    </div>
  );
}

function Fruitless(): JSX.Element {
  const { value, failure, reload } = useResource<{ searches: FruitlessSearch[] }>(
    (signal) => call('GET', '/kb/fruitless-searches', { signal }),
    [],
  );
  const forget = (): void => void call('DELETE', '/kb/fruitless-searches').then(reload, notifyFailure);
  return (
    <Part
      id="fruitless"
      title="Searches without a result"
      intro="What customers looked for and did not find. Each is an article that is missing, or one that uses other words."
      actions={
        hasRole('admin') && value !== undefined && value.searches.length > 0 ? (
          <Button onClick={forget}>Clear the list</Button>
        ) : undefined
      }
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} what="Knowledge bases" />
      ) : value.searches.length === 0 ? (
        <Empty icon="search" title="Every search found something" />
      ) : (
        <div class="table-frame">
          <table class="table stacks">
            <thead>
              <tr>
                <th scope="col">Words</th>
                <th scope="col">Times</th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {value.searches.map(({ words, count, lastAt }) => (
                <tr key={words}>
                  <td>{words}</td>
                  <td>{count}</td>
                  <td>
                    <Time at={lastAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
