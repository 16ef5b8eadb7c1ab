// The numbers that customers call: the list, how to get another, and their greetings.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty, Failure } from '../../design/feedback.tsx';
import { type PagedList, usePaged } from '../../design/paged.ts';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import { readPage } from '../../paging.ts';
import { SimulationNote } from '../../provider-notes.tsx';
import type { PhoneNumber, VoiceProfile } from '../../records.ts';
import { simulatesCalls } from '../../session.ts';
import { Pages, Part, Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { NumberDialog } from './number-dialog.tsx';
import { routingWords } from './number-routing.tsx';
import { NumberSearch } from './number-search.tsx';
import { VoiceProfiles } from './voice-profiles.tsx';

export function PhoneNumbers(_props: SectionProps): JSX.Element {
  const numbers = usePaged<PhoneNumber>(
    (cursor, signal) => readPage('/phone-numbers', 'numbers', { cursor, signal }),
    [],
  );
  const voices = useResource(
    (signal) => call<{ voiceProfiles: VoiceProfile[] }>('GET', '/voice-profiles', { signal }),
    [],
  );
  const profiles = voices.value?.voiceProfiles ?? [];
  return (
    <Section title="Phone numbers" intro="The numbers customers call, and where they ring.">
      {numbers.failure instanceof ApiError && numbers.failure.status === 402 ? (
        <div class="card">
          <Reading failure={numbers.failure} retry={numbers.retry} what="Phone numbers" />
        </div>
      ) : (
        <>
          <SimulationNote />
          <Numbers numbers={numbers} profiles={profiles} />
          <NumberSearch profiles={profiles} onClaimed={(number) => numbers.change((rows) => [number, ...rows])} />
          {voices.failure !== undefined ? (
            <Failure error={voices.failure} retry={voices.reload} />
          ) : (
            <VoiceProfiles
              profiles={profiles}
              onMade={(profile) => voices.set({ voiceProfiles: [profile, ...profiles] })}
            />
          )}
        </>
      )}
    </Section>
  );
}

function Numbers({
  numbers,
  profiles,
}: {
  readonly numbers: PagedList<PhoneNumber>;
  readonly profiles: readonly VoiceProfile[];
}): JSX.Element {
  const [changing, setChanging] = useState<PhoneNumber | undefined>(undefined);
  const [releasing, setReleasing] = useState<PhoneNumber | undefined>(undefined);
  return (
    <Part id="numbers" title="Your numbers">
      <Pages
        of={numbers}
        lines={2}
        empty={
          <Empty icon="call" title="No numbers yet">
            <p>{simulatesCalls.value ? 'Find one below.' : 'Find one below. Customers can call it within a minute.'}</p>
          </Empty>
        }
      >
        {(rows) => (
          <div class="table-frame">
            <table class="table stacks">
              <thead>
                <tr>
                  <th scope="col">Number</th>
                  <th scope="col">Rings</th>
                  <th scope="col">Features</th>
                  <th scope="col">
                    <span class="for-readers">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((number) => (
                  <NumberRow
                    key={number.id}
                    number={number}
                    onChange={() => setChanging(number)}
                    onRelease={() => setReleasing(number)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Pages>
      {changing !== undefined && (
        <NumberDialog
          number={changing}
          profiles={profiles}
          onChanged={(changed) => {
            numbers.change((all) => all.map((one) => (one.id === changed.id ? changed : one)));
            setChanging(undefined);
          }}
          onClose={() => setChanging(undefined)}
        />
      )}
      {releasing !== undefined && (
        <Confirm
          title={`Release ${releasing.e164}?`}
          action="Release"
          typed={releasing.e164}
          onConfirm={async () => {
            await call('DELETE', `/phone-numbers/${releasing.id}`);
            numbers.change((all) => all.filter(({ id }) => id !== releasing.id));
            notify({ kind: 'done', text: `${releasing.e164} is released.` });
          }}
          onClose={() => setReleasing(undefined)}
        >
          <p>
            The number returns to the carrier, who may give it to someone else. You cannot get it back. Calls ringing
            now go to voicemail.
          </p>
        </Confirm>
      )}
    </Part>
  );
}

function NumberRow({
  number,
  onChange,
  onRelease,
}: {
  readonly number: PhoneNumber;
  readonly onChange: () => void;
  readonly onRelease: () => void;
}): JSX.Element {
  return (
    <tr>
      <td class="number-name">
        <strong>{number.displayName}</strong>
        <br />
        <span class="soft">{number.e164}</span>
      </td>
      <td>{routingWords(number)}</td>
      <td>
        <span class="row">
          {number.voicemailEnabled && <Badge>Voicemail</Badge>}
          {number.recordingEnabled && <Badge kind="warn">Recorded</Badge>}
          {(number.voiceProfileId !== null || number.welcomeAudioUrl !== null) && <Badge>Greeting</Badge>}
          {number.businessHours !== null && <Badge>Own hours</Badge>}
        </span>
      </td>
      <td class="actions">
        <IconButton small icon="edit" label={`Change ${number.e164}`} onClick={onChange} />
        <Button small kind="danger" aria-label={`Release ${number.e164}`} onClick={onRelease}>
          Release
        </Button>
      </td>
    </tr>
  );
}
