// Finds a number at the carrier and claims it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { notify } from '../../notices.ts';
import type { AvailableNumber, PhoneNumber, VoiceProfile } from '../../records.ts';
import { simulatesCalls } from '../../session.ts';
import { Part } from '../parts.tsx';
import { type Routing, RoutingFields, routingBody, VoiceField } from './number-routing.tsx';

/** By calling code; in the North American numbering plan, by area code. */
const countries = [
  { value: '1', label: 'United States and Canada' },
  ...(
    [
      ['61', 'Australia'],
      ['43', 'Austria'],
      ['32', 'Belgium'],
      ['55', 'Brazil'],
      ['45', 'Denmark'],
      ['358', 'Finland'],
      ['33', 'France'],
      ['49', 'Germany'],
      ['353', 'Ireland'],
      ['972', 'Israel'],
      ['39', 'Italy'],
      ['81', 'Japan'],
      ['52', 'Mexico'],
      ['31', 'Netherlands'],
      ['64', 'New Zealand'],
      ['47', 'Norway'],
      ['48', 'Poland'],
      ['351', 'Portugal'],
      ['65', 'Singapore'],
      ['27', 'South Africa'],
      ['34', 'Spain'],
      ['46', 'Sweden'],
      ['41', 'Switzerland'],
      ['44', 'United Kingdom'],
    ] as const
  ).map(([value, name]) => ({ value, label: `${name} (+${value})` })),
  { value: 'other', label: 'Another country' },
];
const kinds = [
  { value: 'local', label: 'Local' },
  { value: 'tollfree', label: 'Toll-free' },
] as const;

interface SearchValues {
  readonly country: string;
  readonly kind: 'local' | 'tollfree';
  readonly areaCode: string;
}

function searchBody({ country, kind, areaCode }: SearchValues): {
  kind: string;
  areaCode?: string;
  limit: number;
} {
  const code = areaCode.trim().replace(/^\+/, '');
  if (country === '1') return { kind, areaCode: code, limit: 20 };
  return {
    kind: 'international',
    limit: 20,
    ...(country === 'other' ? (code === '' ? {} : { areaCode: code }) : { areaCode: country }),
  };
}

export function NumberSearch({
  profiles,
  onClaimed,
}: {
  readonly profiles: readonly VoiceProfile[];
  readonly onClaimed: (number: PhoneNumber) => void;
}): JSX.Element {
  const [found, setFound] = useState<readonly AvailableNumber[] | undefined>(undefined);
  const [chosen, setChosen] = useState<AvailableNumber | undefined>(undefined);
  const form = useForm<SearchValues>({ country: '1', kind: 'local', areaCode: '' }, async (values) => {
    setFound(
      (await call<{ available: AvailableNumber[] }>('POST', '/phone-numbers/available', { body: searchBody(values) }))
        .available,
    );
  });
  const { country, kind, areaCode } = form.values;
  const gone = (e164: string): void => setFound((current) => current?.filter((one) => one.e164 !== e164));
  return (
    <Part id="number-search" title="Get a number">
      <Form
        form={form}
        label="Get a number"
        actions={
          <Button type="submit" icon="search" busy={form.busy}>
            Search
          </Button>
        }
      >
        <div class="columns">
          <SelectField
            label="Country"
            value={country}
            choices={countries}
            onValue={(next) => form.reset({ ...form.values, country: next, areaCode: '' })}
          />
          {country === '1' && (
            <SelectField label="Kind" value={kind} choices={kinds} onValue={(next) => form.set('kind', next)} />
          )}
          {country === '1' && (
            <TextField
              label="Area code"
              inputMode="numeric"
              maxLength={10}
              placeholder={kind === 'local' ? '415' : '833'}
              value={areaCode}
              onValue={(next) => form.set('areaCode', next)}
              error={form.errorOf('areaCode')}
            />
          )}
          {country === 'other' && (
            <TextField
              label="Its calling code"
              optional
              inputMode="numeric"
              maxLength={4}
              placeholder="30"
              value={areaCode}
              onValue={(next) => form.set('areaCode', next)}
              error={form.errorOf('areaCode')}
            />
          )}
        </div>
      </Form>
      <div role="status">
        {found !== undefined && found.length === 0 && (
          <p class="soft">No numbers are available there now. Try another area.</p>
        )}
      </div>
      {found !== undefined && found.length > 0 && (
        <ul class="numbers" aria-label="Available numbers">
          {found.map((one) => (
            <li key={one.e164}>
              <strong>{one.e164}</strong>
              <span class="soft">
                {one.locality}, {costOf(one)}
              </span>
              <Button small aria-label={`Claim ${one.e164}`} onClick={() => setChosen(one)}>
                Claim
              </Button>
            </li>
          ))}
        </ul>
      )}
      {chosen !== undefined && (
        <ClaimDialog
          number={chosen}
          profiles={profiles}
          onTaken={gone}
          onClaimed={(number) => {
            gone(number.e164);
            setChosen(undefined);
            onClaimed(number);
          }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </Part>
  );
}

const costOf = ({ monthlyCost }: AvailableNumber): string =>
  simulatesCalls.value ? 'simulated' : `$${monthlyCost} a month`;

function ClaimDialog({
  number,
  profiles,
  onTaken,
  onClaimed,
  onClose,
}: {
  readonly number: AvailableNumber;
  readonly profiles: readonly VoiceProfile[];
  readonly onTaken: (e164: string) => void;
  readonly onClaimed: (number: PhoneNumber) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const start: Routing & { displayName: string; recordCalls: boolean; voiceProfileId: string } = {
    displayName: '',
    routingStrategy: 'all_agents',
    routingTargetId: '',
    recordCalls: false,
    voiceProfileId: '',
  };
  const form = useForm(start, async ({ displayName, recordCalls, voiceProfileId, ...routing }) => {
    try {
      onClaimed(
        await call<PhoneNumber>('POST', '/phone-numbers', {
          body: {
            e164: number.e164,
            displayName,
            recordCalls,
            voiceProfileId: voiceProfileId === '' ? null : voiceProfileId,
            ...routingBody(routing),
          },
        }),
      );
      notify({
        kind: 'done',
        text: simulatesCalls.value
          ? `${number.e164} is added. It is simulated.`
          : `${number.e164} is yours. Calls to it will ring within a minute.`,
      });
    } catch (error) {
      if (error instanceof ApiError && error.slug === 'number_taken') onTaken(number.e164);
      throw error;
    }
  });
  return (
    <Dialog title={`Claim ${number.e164}`} onClose={onClose}>
      <Form
        form={form}
        label="Claim a number"
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Claim
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <p class="soft">
          {number.locality}.{' '}
          {simulatesCalls.value
            ? 'A simulated number: it costs nothing, and no one can call it.'
            : `It costs $${number.monthlyCost} a month while you keep it.`}
        </p>
        <TextField
          label="Name"
          maxLength={120}
          placeholder="Main line"
          value={form.values.displayName}
          onValue={(next) => form.set('displayName', next)}
          error={form.errorOf('displayName')}
          hint="Your colleagues see it when it rings."
        />
        <RoutingFields
          value={form.values}
          onValue={(next) => form.reset({ ...form.values, ...next })}
          errorOf={form.errorOf}
        />
        <VoiceField
          profiles={profiles}
          value={form.values.voiceProfileId}
          onValue={(next) => form.set('voiceProfileId', next)}
          error={form.errorOf('voiceProfileId')}
        />
        <Checkbox
          label="Record calls"
          hint="Tell your callers. In many countries the law requires it."
          checked={form.values.recordCalls}
          onChecked={(next) => form.set('recordCalls', next)}
        />
      </Form>
    </Dialog>
  );
}
