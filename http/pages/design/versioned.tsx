// A form for a record that others may change, too. If another person did, the form shows their changes, keeps what the
// reader typed, and saving again overrides theirs.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import { Button } from './button.tsx';
import { Banner } from './feedback.tsx';
import { type FormState, type RefusedAt, useForm } from './form.tsx';
import { mergeChanges, same } from './three-way.ts';

interface Meanwhile<Values> {
  readonly theirs: Values;
  readonly taken: readonly (keyof Values)[];
  readonly contested: readonly (keyof Values)[];
}

export interface VersionedForm<Values> extends FormState<Values> {
  /** Whether there are unsaved changes. */
  readonly changed: boolean;
  readonly meanwhile: Meanwhile<Values> | undefined;
  /** Uses the other's value for one field. */
  take(name: keyof Values): void;
}

interface Options<Kept extends { readonly version: number }, Values> {
  readonly record: Kept;
  readonly valuesOf: (record: Kept) => Values;
  /** Rejects with stale_version if `version` is not the newest. */
  readonly save: (values: Values, version: number) => Promise<Kept>;
  readonly read: () => Promise<Kept>;
  readonly onSaved: (record: Kept) => void;
  readonly refusedAt?: RefusedAt;
}

export function useVersionedForm<Kept extends { readonly version: number }, Values extends object>({
  record,
  valuesOf,
  save,
  read,
  onSaved,
  refusedAt,
}: Options<Kept, Values>): VersionedForm<Values> {
  const [base, setBase] = useState(record);
  const [meanwhile, setMeanwhile] = useState<Meanwhile<Values> | undefined>(undefined);
  const form = useForm(
    valuesOf(record),
    async (values) => {
      try {
        const saved = await save(values, base.version);
        setBase(saved);
        setMeanwhile(undefined);
        form.reset(valuesOf(saved));
        onSaved(saved);
      } catch (error) {
        if (!(error instanceof ApiError) || error.slug !== 'stale_version') throw error;
        const current = await read();
        const theirs = valuesOf(current);
        const { values: merged, taken, contested } = mergeChanges({ base: valuesOf(base), theirs, mine: values });
        setBase(current);
        setMeanwhile({ theirs, taken, contested });
        form.reset(merged);
      }
    },
    refusedAt,
  );
  return {
    ...form,
    // As in the form itself: read after the fields were drawn.
    get problem() {
      return form.problem;
    },
    changed: !same(form.values, valuesOf(base)),
    meanwhile,
    take(name) {
      if (meanwhile === undefined) return;
      form.set(name, meanwhile.theirs[name]);
      setMeanwhile({
        ...meanwhile,
        taken: [...meanwhile.taken, name],
        contested: meanwhile.contested.filter((one) => one !== name),
      });
    },
  };
}

/** The changes that another person made while the form was open. `show` formats a field's value. */
export function ChangedMeanwhile<Values extends object>({
  form,
  labels,
  show,
}: {
  readonly form: VersionedForm<Values>;
  readonly labels: Readonly<Record<keyof Values, string>>;
  readonly show: (name: keyof Values, values: Values) => string;
}): JSX.Element {
  const { meanwhile } = form;
  return (
    <div role="alert">
      {meanwhile !== undefined && (
        <Banner kind="warn">
          <div class="stack">
            <p>
              <strong>Someone else changed this while you were editing.</strong>{' '}
              {meanwhile.contested.length > 0
                ? 'Your version is kept below. Saving replaces theirs.'
                : 'Their changes do not overlap with yours and are included below. Save to keep yours too.'}
            </p>
            <ul class="stack">
              {meanwhile.contested.map((name) => (
                <li key={name} class="row">
                  <span>
                    {labels[name]} is now “{show(name, meanwhile.theirs)}”.
                  </span>
                  <Button small onClick={() => form.take(name)}>
                    Use theirs
                  </Button>
                </li>
              ))}
              {meanwhile.taken.map((name) => (
                <li key={name}>
                  {labels[name]} is “{show(name, meanwhile.theirs)}” now, as they changed it.
                </li>
              ))}
            </ul>
          </div>
        </Banner>
      )}
    </div>
  );
}
