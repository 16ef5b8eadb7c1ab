// Verification services: each is a purpose for codes, with its channels, countries and limits.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import type { Resource } from '../../design/resource.ts';
import { changedIn } from '../../design/three-way.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { VerifyService } from '../../records.ts';
import { spanOf } from '../../times.ts';
import { CheckList } from '../check-list.tsx';
import { Part, Reading } from '../parts.tsx';
import { channels, channelsInWords, countriesInWords, countriesOf } from './verify-words.ts';

export interface ServiceList {
  readonly services: readonly VerifyService[];
}

type Doing = { readonly what: 'make' } | { readonly what: 'change' | 'remove'; readonly service: VerifyService };

export function VerifyServices({ list }: { readonly list: Resource<ServiceList> }): JSX.Element {
  const [doing, setDoing] = useState<Doing | undefined>(undefined);
  const done = (): void => setDoing(undefined);
  const saved = (): void => {
    notify({ kind: 'done', text: 'Saved.' });
    list.reload();
    done();
  };
  const makeDefault = async ({ id }: VerifyService): Promise<void> => {
    try {
      await call('PATCH', `/verify/services/${id}`, { body: { isDefault: true } });
      list.reload();
    } catch (error) {
      notifyFailure(error);
    }
  };
  return (
    <Part
      id="services"
      title="Services"
      intro="One for each purpose, such as signing in. Requests that name no service use the default one."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setDoing({ what: 'make' })}>
          Add a service
        </Button>
      }
    >
      {list.value === undefined ? (
        <Reading failure={list.failure} retry={list.reload} lines={2} />
      ) : list.value.services.length === 0 ? (
        <Empty icon="check" title="No services yet">
          <p>Add one, and create a key that may send codes. Then your programs can start.</p>
        </Empty>
      ) : (
        <ul class="services">
          {list.value.services.map((service) => (
            <li key={service.id}>
              <div class="row">
                <h3>{service.name}</h3>
                {service.isDefault && <Badge kind="accent">Default</Badge>}
              </div>
              <Copyable text={service.id} label={`the id of ${service.name}`} />
              <p class="soft">
                {channelsInWords(service.enabledChannels)}. {countriesInWords(service.allowedCountries)}.{' '}
                {service.codeLength} digits, valid for {spanOf(service.ttlSeconds)}. At most {service.perMinuteCap} a
                minute and {service.perDayCap} a day.
              </p>
              <div class="row">
                <Button
                  small
                  aria-label={`Change ${service.name}`}
                  onClick={() => setDoing({ what: 'change', service })}
                >
                  Change
                </Button>
                {!service.isDefault && (
                  <Button small aria-label={`Make default: ${service.name}`} onClick={() => void makeDefault(service)}>
                    Make default
                  </Button>
                )}
                <Button
                  small
                  kind="danger"
                  aria-label={`Delete ${service.name}`}
                  onClick={() => setDoing({ what: 'remove', service })}
                >
                  Delete
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {(doing?.what === 'make' || doing?.what === 'change') && (
        <ServiceDialog service={doing.what === 'change' ? doing.service : undefined} onSaved={saved} onClose={done} />
      )}
      {doing?.what === 'remove' && (
        <Confirm
          title={`Delete “${doing.service.name}”?`}
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/verify/services/${doing.service.id}`);
            list.reload();
          }}
          onClose={done}
        >
          <p>Requests that name it are refused. Codes already sent can still be checked.</p>
        </Confirm>
      )}
    </Part>
  );
}

interface ServiceValues {
  readonly name: string;
  readonly channels: readonly string[];
  readonly countries: string;
  readonly perMinuteCap: string;
  readonly perDayCap: string;
  readonly codeLength: string;
  readonly ttlSeconds: string;
}

function bodyOf({
  name,
  channels: chosen,
  countries,
  perMinuteCap,
  perDayCap,
  codeLength,
  ttlSeconds,
}: ServiceValues): object {
  return {
    name,
    enabledChannels: chosen,
    allowedCountries: countriesOf(countries),
    perMinuteCap: Number(perMinuteCap),
    perDayCap: Number(perDayCap),
    codeLength: Number(codeLength),
    ttlSeconds: Number(ttlSeconds),
  };
}

const limits = [
  { name: 'perMinuteCap', label: 'Limit per minute', min: 1, max: 1000 },
  { name: 'perDayCap', label: 'Limit per day', min: 1, max: 10_000 },
  { name: 'codeLength', label: 'Digits', min: 4, max: 8 },
  { name: 'ttlSeconds', label: 'Valid for, in seconds', min: 60, max: 3600 },
] as const;

function ServiceDialog({
  service,
  onSaved,
  onClose,
}: {
  readonly service: VerifyService | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const enabled: readonly string[] = service?.enabledChannels ?? channels.map(({ value }) => value);
  const start: ServiceValues = {
    name: service?.name ?? '',
    channels: enabled,
    countries: (service?.allowedCountries ?? ['US', 'CA']).join(', '),
    perMinuteCap: String(service?.perMinuteCap ?? 10),
    perDayCap: String(service?.perDayCap ?? 1000),
    codeLength: String(service?.codeLength ?? 6),
    ttlSeconds: String(service?.ttlSeconds ?? 600),
  };
  const form = useForm(start, async (values) => {
    const body = bodyOf(values);
    // Sends only own changes, so that those of others stay.
    const changes = changedIn(bodyOf(start), body);
    if (service !== undefined && Object.keys(changes).length === 0) return onClose();
    await (service === undefined
      ? call('POST', '/verify/services', { body })
      : call('PATCH', `/verify/services/${service.id}`, { body: changes }));
    onSaved();
  });
  const { values, set, errorOf } = form;
  return (
    <Dialog title={service === undefined ? 'Add a service' : `Change ${service.name}`} wide onClose={onClose}>
      <Form
        form={form}
        label={service === undefined ? 'Add a service' : 'Change a service'}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {service === undefined ? 'Add' : 'Save'}
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Name"
          maxLength={120}
          placeholder="Sign-in"
          value={values.name}
          onValue={(next) => set('name', next)}
          error={errorOf('name')}
        />
        <CheckList
          label="Send codes by"
          items={channels}
          chosen={values.channels}
          onChosen={(next) => set('channels', next)}
          error={errorOf('enabledChannels')}
        />
        <TextField
          label="Allowed countries"
          spellcheck={false}
          value={values.countries}
          onValue={(next) => set('countries', next)}
          error={errorOf('allowedCountries')}
          hint="Two-letter country codes, such as US, CA, DE. Use * for every country."
        />
        <div class="columns">
          {limits.map(({ name, label, min, max }) => (
            <TextField
              key={name}
              label={label}
              type="number"
              min={min}
              max={max}
              value={values[name]}
              onValue={(next) => set(name, next)}
              error={errorOf(name)}
            />
          ))}
        </div>
      </Form>
    </Dialog>
  );
}
