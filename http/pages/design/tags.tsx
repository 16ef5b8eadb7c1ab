// A list of tags to edit: each has a button to remove it, and a field with suggestions adds one. Saves nothing itself;
// it reports every change.

import type { JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { distinctNames, nameKey } from '../folding.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

const maxTagChars = 50;
const maxTags = 50;

interface TagsProps {
  readonly label: string;
  readonly tags: readonly string[];
  readonly onTags: (tags: readonly string[]) => void;
  /** Suggestions while typing. */
  readonly known?: readonly string[];
  readonly error?: string | undefined;
  readonly autofocus?: boolean;
}

export function Tags({ label, tags, onTags, known = [], error, autofocus = false }: TagsProps): JSX.Element {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');

  const add = (text: string): void => {
    const added = text
      .split(',')
      .map((one) => one.trim().slice(0, maxTagChars))
      .filter((one) => one !== '');
    setTyped('');
    const next = distinctNames([...tags, ...added]).slice(0, maxTags);
    if (next.length > tags.length) onTags(next);
  };
  const remove = (tag: string): void => {
    onTags(tags.filter((one) => one !== tag));
    field.current?.focus();
  };

  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="tags">
        {tags.length > 0 && (
          <ul aria-label={`Current ${label.toLowerCase()}`}>
            {tags.map((tag) => (
              <li key={tag} class="tag">
                <Icon name="tag" size={14} />
                <span class="truncate">{tag}</span>
                <IconButton icon="cross" small label={`Remove ${tag}`} onClick={() => remove(tag)} />
              </li>
            ))}
          </ul>
        )}
        <input
          ref={field}
          id={id}
          class="input"
          list={`${id}-known`}
          autocomplete="off"
          placeholder="Add a tag"
          maxLength={maxTagChars}
          autofocus={autofocus}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined ? undefined : `${id}-error`}
          value={typed}
          onInput={(event) => {
            const { value } = event.currentTarget;
            // Chosen from the suggestions, in browsers that report it.
            if (event instanceof InputEvent ? event.inputType === 'insertReplacementText' : known.includes(value))
              add(value);
            else setTyped(value);
          }}
          onKeyDown={(event) => {
            if (event.isComposing) return;
            if ((event.key === 'Enter' || event.key === ',') && typed.trim() !== '') {
              event.preventDefault();
              add(typed);
            } else if (event.key === 'Backspace' && typed === '' && tags.length > 0) {
              event.preventDefault();
              onTags(tags.slice(0, -1));
            }
          }}
          onBlur={() => add(typed)}
        />
        <datalist id={`${id}-known`}>
          {distinctNames(known)
            .filter((one) => !tags.some((tag) => nameKey(tag) === nameKey(one)))
            .map((one) => (
              <option key={one} value={one} />
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
