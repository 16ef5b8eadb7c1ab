// Who a mail goes to: addresses as chips, typed, pasted, or chosen among the contacts.

import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { IconButton } from '../../design/button.tsx';
import type { Contact } from '../../records.ts';

const maxSuggested = 8;
const suggestAfterMs = 150;

interface RecipientFieldProps {
  readonly label: string;
  readonly addresses: readonly string[];
  readonly autofocus?: boolean;
  readonly error?: string | undefined;
  readonly onChange: (addresses: readonly string[]) => void;
}

export function RecipientField({
  label,
  addresses,
  autofocus = false,
  error,
  onChange,
}: RecipientFieldProps): JSX.Element {
  const [text, setText] = useState('');
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const suggested = useSuggestions(text);
  useEffect(() => {
    if (autofocus) input.current?.focus();
  }, [autofocus]);
  const add = (written: string): void => {
    const found = addressesIn(written).filter((address) => !addresses.includes(address));
    if (found.length > 0) onChange([...addresses, ...found]);
    setText('');
  };
  return (
    <div class="mail-recipients">
      <label for={id}>{label}</label>
      <div>
        {addresses.map((address) => (
          <span key={address} class={`mail-chip ${address.includes('@') ? '' : 'bad'}`}>
            {address}
            <IconButton
              small
              icon="cross"
              label={`Remove ${address}`}
              onClick={() => {
                onChange(addresses.filter((other) => other !== address));
                input.current?.focus();
              }}
            />
          </span>
        ))}
        <input
          ref={input}
          id={id}
          type="text"
          inputMode="email"
          autocomplete="off"
          spellcheck={false}
          list={`${id}-contacts`}
          value={text}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={error === undefined ? undefined : `${id}-error`}
          onInput={(event) => {
            const { value } = event.currentTarget;
            // A choice from the list comes whole; a comma ends an address.
            if (/[,;]\s*$/.test(value) || suggested.some(({ email }) => email === value)) add(value);
            else setText(value);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.isComposing && text.trim() !== '') {
              event.preventDefault();
              event.stopPropagation();
              add(text);
            } else if (event.key === 'Backspace' && text === '' && addresses.length > 0)
              onChange(addresses.slice(0, -1));
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData('text/plain') ?? '';
            if (!pasted.includes('@')) return;
            event.preventDefault();
            add(`${text}${pasted}`);
          }}
          onBlur={() => text.trim() !== '' && add(text)}
        />
        <datalist id={`${id}-contacts`}>
          {suggested.map(({ id: contactId, name, email }) => (
            <option key={contactId} value={email ?? ''} label={name ?? undefined} />
          ))}
        </datalist>
      </div>
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** `Ann <ann@x.example>, ben@x.example` */
export function addressesIn(text: string): string[] {
  return text
    .split(/[,;\n\t]+/)
    .map((part) => (/<([^<>]+)>/.exec(part)?.[1] ?? part).trim().toLowerCase())
    .filter((part) => part !== '');
}

function useSuggestions(text: string): readonly Contact[] {
  const [found, setFound] = useState<readonly Contact[]>([]);
  const sought = text.trim();
  useEffect(() => {
    if (sought.length < 2) return setFound([]);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      call<{ contacts: Contact[] }>('GET', '/contacts', {
        query: { search: sought, limit: maxSuggested },
        signal: abort.signal,
      }).then(
        ({ contacts }) => setFound(contacts.filter(({ email }) => email !== null)),
        () => {
          // Suggestions are a help; without them the address is typed.
          if (!abort.signal.aborted) setFound([]);
        },
      );
    }, suggestAfterMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [sought]);
  return found;
}
