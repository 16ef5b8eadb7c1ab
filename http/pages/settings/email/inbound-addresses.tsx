// The addresses that receive mail: the workspace's own, and those of departments.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { useLatest } from '../../design/steady.ts';
import { notify } from '../../notices.ts';
import { departments } from '../../people.ts';
import type { InboundAddress } from '../../records.ts';
import { Part, Reading } from '../parts.tsx';

interface Mapped {
  readonly localPart: string;
  /** Empty for the default department. */
  readonly departmentId: string;
}

const maxAddresses = 100;

/** Each local part once: the address at the subdomain and the one at the domain are one entry. */
function mappedOf(addresses: readonly InboundAddress[]): Mapped[] {
  const byPart = new Map(
    addresses
      .filter(({ kind }) => kind !== 'auto')
      .map(({ localPart, departmentId }) => [localPart, { localPart, departmentId: departmentId ?? '' }]),
  );
  return [...byPart.values()];
}

export function InboundAddresses(): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ addresses: InboundAddress[] }>('GET', '/email/inbound-addresses', { signal }),
    [],
  );
  const auto = value?.addresses.find(({ kind }) => kind === 'auto');
  return (
    <Part
      id="addresses"
      title="Inbound addresses"
      intro="Email to these addresses becomes tickets. Forward your support address to one of them, or use your own domain."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={3} />
      ) : (
        <>
          {auto !== undefined && <Copyable text={auto.address} label="the address of your workspace" />}
          <Mapping addresses={value.addresses} onSaved={set} />
        </>
      )}
    </Part>
  );
}

function Mapping({
  addresses,
  onSaved,
}: {
  readonly addresses: readonly InboundAddress[];
  readonly onSaved: (answer: { addresses: InboundAddress[] }) => void;
}): JSX.Element {
  const form = useForm<{ rows: readonly Mapped[] }>({ rows: mappedOf(addresses) }, async ({ rows }) => {
    onSaved(
      await call('PUT', '/email/inbound-addresses', {
        body: {
          addresses: rows.map(({ localPart, departmentId }) => ({
            localPart: localPart.trim(),
            departmentId: departmentId === '' ? null : departmentId,
          })),
        },
      }),
    );
    notify({ kind: 'done', text: 'Saved.' });
  });
  const [saved, setSaved] = useState(addresses);
  const follow = useLatest((now: readonly InboundAddress[]) => {
    if (saved === now) return;
    setSaved(now);
    form.reset({ rows: mappedOf(now) });
  });
  useEffect(() => follow(addresses), [addresses]);
  const { rows } = form.values;
  const change = (index: number, next: Partial<Mapped>): void =>
    form.set(
      'rows',
      rows.map((row, at) => (at === index ? { ...row, ...next } : row)),
    );
  const full = (localPart: string): string =>
    addresses
      .filter((one) => one.kind !== 'auto' && one.localPart === localPart)
      .map(({ address }) => address)
      .join(' and ');
  return (
    <Form
      form={form}
      label="Addresses for departments"
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            Save
          </Button>
          <Button
            icon="plus"
            disabled={rows.length >= maxAddresses}
            onClick={() => form.set('rows', [...rows, { localPart: '', departmentId: '' }])}
          >
            Add an address
          </Button>
        </>
      }
    >
      <h3>For departments</h3>
      {rows.length === 0 && (
        <p class="soft">
          None yet. Add an address such as billing or repairs, and its email goes straight to that department.
        </p>
      )}
      {rows.map((row, index) => (
        <AddressRow
          key={index}
          row={row}
          error={form.errorOf(`addresses.${index}`)}
          hint={full(row.localPart)}
          onChange={(next) => change(index, next)}
          onRemove={() =>
            form.set(
              'rows',
              rows.filter((_, at) => at !== index),
            )
          }
        />
      ))}
    </Form>
  );
}

function AddressRow({
  row,
  error,
  hint,
  onChange,
  onRemove,
}: {
  readonly row: Mapped;
  readonly error: string | undefined;
  readonly hint: string;
  readonly onChange: (next: Partial<Mapped>) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  const choices = [
    { value: '', label: 'The default department' },
    ...[...departments.value.values()].map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <div class="address">
      <TextField
        label="Before the @"
        maxLength={64}
        spellcheck={false}
        autocomplete="off"
        placeholder="billing"
        value={row.localPart}
        onValue={(localPart) => onChange({ localPart })}
        error={error}
        hint={hint === '' ? undefined : hint}
      />
      <SelectField
        label="Goes to"
        value={row.departmentId}
        choices={choices}
        onValue={(departmentId) => onChange({ departmentId })}
      />
      <IconButton
        icon="trash"
        label={`Remove ${row.localPart === '' ? 'this address' : row.localPart}`}
        onClick={onRemove}
      />
    </div>
  );
}
