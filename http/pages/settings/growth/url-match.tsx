// A condition on a page's address, with a field to try addresses. The service says what matches, since it decides
// later, too.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { Badge } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import type { UrlMatch } from '../../records.ts';
import { operatorNames } from './url-words.ts';

const operators = (['contains', 'starts-with', 'ends-with', 'equals', 'regex'] as const).map((value) => ({
  value,
  label: operatorNames[value],
}));
const typingMs = 250;

export function UrlMatchFields({
  match,
  onMatch,
  errorOf,
}: {
  readonly match: UrlMatch;
  readonly onMatch: (match: UrlMatch) => void;
  readonly errorOf: (name: 'operator' | 'value') => string | undefined;
}): JSX.Element {
  return (
    <div class="stack">
      <div class="columns">
        <SelectField
          label="The address"
          value={match.operator}
          choices={operators}
          onValue={(operator) => onMatch({ ...match, operator })}
          error={errorOf('operator')}
        />
        <TextField
          label={match.operator === 'regex' ? 'Expression' : 'This text'}
          required
          maxLength={500}
          spellcheck={false}
          placeholder={
            match.operator === 'equals' || match.operator === 'starts-with' ? 'https://shop.example/thanks' : '/thanks'
          }
          value={match.value}
          onValue={(value) => onMatch({ ...match, value })}
          error={errorOf('value')}
          hint={
            match.operator === 'regex' ? 'RE2 syntax, found anywhere in the address.' : 'Upper and lower case matter.'
          }
        />
      </div>
      <UrlTester match={match} />
    </div>
  );
}

type Verdict = { readonly kind: 'matches' | 'differs' } | { readonly kind: 'problem'; readonly text: string };

function UrlTester({ match }: { readonly match: UrlMatch }): JSX.Element {
  const [address, setAddress] = useState('');
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined);
  const { operator, value } = match;
  useEffect(() => {
    setVerdict(undefined);
    if (address.trim() === '' || value === '') return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      call<{ matches: boolean }>('POST', '/url-match', {
        body: { condition: { operator, value }, url: address.trim() },
        signal: abort.signal,
      }).then(
        ({ matches }) => setVerdict({ kind: matches ? 'matches' : 'differs' }),
        (error: unknown) => {
          if (!abort.signal.aborted) setVerdict({ kind: 'problem', text: problemOf(error) });
        },
      );
    }, typingMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [address, operator, value]);
  return (
    <div class="url-tester">
      <TextField
        label="Try an address"
        type="url"
        maxLength={2048}
        spellcheck={false}
        placeholder="Paste one from your site"
        value={address}
        onValue={setAddress}
      />
      <p role="status">
        {verdict?.kind === 'matches' && <Badge kind="good">This page matches</Badge>}
        {verdict?.kind === 'differs' && <Badge kind="warn">This page does not match</Badge>}
        {verdict?.kind === 'problem' && <span class="error">{verdict.text}</span>}
      </p>
    </div>
  );
}

function problemOf(error: unknown): string {
  const [first] = error instanceof ApiError ? Object.values(error.fieldErrors).flat() : [];
  return first === undefined ? messageOf(error) : `It ${first}.`;
}
