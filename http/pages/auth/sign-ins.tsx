// Where the agent is signed in: each browser and program, with a button to end it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Badge, Failure, Loading } from '../design/feedback.tsx';
import { useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { notify, notifyFailure } from '../notices.ts';
import { timeInSentence } from '../times.ts';

interface SignIn {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly device: string;
  readonly address: string;
  readonly lastUsedAt: string;
}

/** The others are shown on demand. */
const shownAtFirst = 5;

export function SignIns(): JSX.Element {
  const [all, setAll] = useState(false);
  const list = useResource(
    async (signal) => (await call<{ sessions: SignIn[] }>('GET', '/me/sessions', { signal })).sessions,
    [],
  );
  const end = async (path: string, text: string): Promise<void> => {
    try {
      await call('DELETE', path);
      notify({ kind: 'done', text });
      list.reload();
    } catch (error) {
      notifyFailure(error);
    }
  };
  const { value } = list;
  if (value === undefined)
    return list.failure === undefined ? <Loading lines={3} /> : <Failure error={list.failure} retry={list.reload} />;
  const shown = all ? value : value.slice(0, shownAtFirst);
  return (
    <div class="stack">
      <ul class="factor-list">
        {shown.map(({ id, isCurrent, device, address, lastUsedAt }) => (
          <li key={id} class="factor">
            <div>
              <strong>{device}</strong> {isCurrent && <Badge kind="accent">This browser</Badge>}
              <p class="soft">
                {address === '' ? 'Unknown address' : address}, last used{' '}
                <Time at={lastUsedAt} format={timeInSentence} />
              </p>
            </div>
            {!isCurrent && (
              <Button
                small
                aria-label={`Sign out ${device} at ${address}`}
                onClick={() => void end(`/me/sessions/${id}`, 'Signed out there.')}
              >
                Sign out
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div class="row">
        {value.length > shown.length && <Button onClick={() => setAll(true)}>Show all {value.length}</Button>}
        {value.some(({ isCurrent }) => !isCurrent) && (
          <Button onClick={() => void end('/me/sessions', 'Signed out everywhere else.')}>
            Sign out everywhere else
          </Button>
        )}
      </div>
    </div>
  );
}
