// A form that sends its values and shows the service's errors: at the field if the API names one, otherwise above the
// buttons. A failure keeps what was typed.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api-error.ts';
import { Banner, PlanLink } from './feedback.tsx';
import { Attempts } from './field.tsx';
import { mergeChanges, same } from './three-way.ts';

export interface FormState<Values> {
  readonly values: Values;
  readonly busy: boolean;
  /** How often it was sent. */
  readonly attempts: number;
  /** The error of the form as a whole. */
  readonly problem: string | undefined;
  /** True if the plan does not include it. */
  readonly needsPlan: boolean;
  set<Name extends keyof Values>(name: Name, value: Values[Name]): void;
  /** The error of a field, by its name in the API; errors of paths below it count, too. */
  errorOf(name: string): string | undefined;
  /** Replaces the values and clears the errors. */
  reset(values: Values): void;
  submit(): Promise<void>;
}

/** The field that a refusal as a whole refers to, by its slug, so that the error is shown there. */
export type RefusedAt = Readonly<Record<string, string>>;

export function useForm<Values extends object>(
  initial: Values,
  send: (values: Values) => Promise<void>,
  refusedAt: RefusedAt = {},
): FormState<Values> {
  const [values, setValues] = useState(initial);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [attempts, setAttempts] = useState(0);
  const sending = useRef(false);
  const fieldErrors = failure instanceof ApiError ? errorsByField(failure, refusedAt) : {};
  const used = new Set<string>();

  const errorOf = (name: string): string | undefined => {
    const found = Object.entries(fieldErrors).filter(([path]) => path === name || path.startsWith(`${name}.`));
    for (const [path] of found) used.add(path);
    const text = found.flatMap(([, messages]) => messages).join(', ');
    return text === '' ? undefined : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };

  return {
    values,
    busy,
    attempts,
    // Read after the fields were drawn, so it has the errors that none of them shows.
    get problem() {
      if (failure === undefined) return undefined;
      const rest = Object.entries(fieldErrors).filter(([path]) => !used.has(path));
      if (Object.keys(fieldErrors).length === 0) return messageOf(failure);
      return rest.length === 0
        ? undefined
        : rest.map(([path, messages]) => `${path}: ${messages.join(', ')}`).join('; ');
    },
    needsPlan: failure instanceof ApiError && failure.status === 402,
    set(name, value) {
      setValues((current) => ({ ...current, [name]: value }));
    },
    errorOf,
    reset(next) {
      setValues(next);
      setFailure(undefined);
    },
    async submit() {
      if (sending.current) return;
      sending.current = true;
      setBusy(true);
      setFailure(undefined);
      try {
        await send(values);
      } catch (error) {
        setFailure(error);
      } finally {
        setAttempts((count) => count + 1);
        sending.current = false;
        setBusy(false);
      }
    },
  };
}

/**
 * Updates an open form when another person changes the record: fields that the reader has not changed take the values
 * of `there`.
 */
export function useFollowing<Values extends object>(form: FormState<Values>, there: Values): void {
  const base = useRef(there);
  useEffect(() => {
    if (same(base.current, there)) return;
    const { taken } = mergeChanges({ base: base.current, theirs: there, mine: form.values });
    base.current = there;
    for (const name of taken) form.set(name, there[name]);
  });
}

function errorsByField({ fieldErrors, slug, message }: ApiError, refusedAt: RefusedAt): ApiError['fieldErrors'] {
  const field = refusedAt[slug];
  return field === undefined || Object.keys(fieldErrors).length > 0
    ? fieldErrors
    : { [field]: [message.replace(/\.$/, '')] };
}

/** `actions` come last, below the error. */
export function Form<Values>({
  form,
  children,
  actions,
  label,
}: {
  readonly form: FormState<Values>;
  readonly children: ComponentChildren;
  readonly actions: ComponentChildren;
  readonly label?: string;
}): JSX.Element {
  const element = useRef<HTMLFormElement>(null);
  return (
    <form
      class="form"
      ref={element}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form
          .submit()
          .then(() =>
            requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()),
          );
      }}
    >
      <Attempts.Provider value={form.attempts}>{children}</Attempts.Provider>
      <FormProblem form={form} />
      <div class="actions">{actions}</div>
    </form>
  );
}

/** Drawn after the fields, so that it knows which errors they show. */
function FormProblem<Values>({ form }: { readonly form: FormState<Values> }): JSX.Element {
  const { problem, needsPlan } = form;
  return (
    <div role="alert">
      {problem !== undefined && (
        <Banner kind="bad">
          {problem} {needsPlan && <PlanLink />}
        </Banner>
      )}
    </div>
  );
}
