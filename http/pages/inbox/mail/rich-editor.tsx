// The field in which a mail is written: the editor, loaded when it is first shown, and its buttons.

import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Loading } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import type { IconName } from '../../design/icon.tsx';
import { useLatest } from '../../design/steady.ts';
import type { BlockName, CaretLine, Editor, MarkName } from './editor.ts';

interface RichEditorProps {
  readonly handle: RefObject<Editor | null>;
  readonly label: string;
  readonly placeholder: string;
  /** At first; later changes come from the editor itself, or through its handle. */
  readonly markdown: string;
  readonly autofocus?: boolean;
  readonly onChange: (markdown: string) => void;
  readonly onCaret?: (line: CaretLine) => void;
  readonly onKey?: (event: KeyboardEvent) => boolean;
  readonly onFiles?: (files: readonly File[]) => void;
}

const buttons: readonly {
  readonly name: Exclude<MarkName, 'link'> | BlockName;
  readonly icon: IconName;
  readonly label: string;
}[] = [
  { name: 'strong', icon: 'bold', label: 'Bold' },
  { name: 'em', icon: 'italic', label: 'Italic' },
  { name: 'bulletList', icon: 'list', label: 'List' },
  { name: 'orderedList', icon: 'numbers', label: 'Numbered list' },
  { name: 'blockquote', icon: 'quote', label: 'Quote' },
  { name: 'code', icon: 'code', label: 'Code' },
];

export function RichEditor(props: RichEditorProps): JSX.Element {
  const { handle, label, placeholder, markdown, autofocus = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | undefined>(undefined);
  const [, setRound] = useState(0);
  const [isLinking, setLinking] = useState(false);
  const begin = useRef({ label, placeholder, markdown, autofocus });
  const onChange = useLatest(props.onChange);
  const onCaret = useLatest((line: CaretLine) => {
    setRound((round) => round + 1);
    props.onCaret?.(line);
  });
  const onKey = useLatest((event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && !event.shiftKey) {
      setLinking(true);
      event.preventDefault();
      event.stopPropagation();
      return true;
    }
    return props.onKey?.(event) ?? false;
  });
  const onFiles = useLatest((files: readonly File[]) => props.onFiles?.(files));
  useEffect(() => {
    handle.current = editor ?? null;
  }, [handle, editor]);
  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    void import('./editor.ts').then(({ createEditor }) => {
      if (isGone || place.current === null) return;
      const { autofocus: isFirst, ...given } = begin.current;
      made = createEditor({ place: place.current, ...given, onChange, onCaret, onKey, onFiles });
      if (isFirst) made.focus();
      setEditor(made);
    });
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, [onChange, onCaret, onKey, onFiles]);
  return (
    <div class="mail-field">
      {editor === undefined && <Loading />}
      <div ref={place} class="mail-text" />
      {editor !== undefined && (
        <div class="mail-format" role="toolbar" aria-label="Formatting">
          {buttons.map(({ name, icon, label: title }) => (
            <IconButton
              key={name}
              small
              icon={icon}
              label={title}
              aria-pressed={editor.isActive(name)}
              // The selection in the text stays.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => (isBlock(name) ? editor.toggleBlock(name) : editor.toggle(name))}
            />
          ))}
          <IconButton
            small
            icon="link"
            label="Link"
            aria-pressed={editor.isActive('link')}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => (editor.isActive('link') ? editor.link(null) : setLinking(true))}
          />
        </div>
      )}
      {isLinking && editor !== undefined && (
        <LinkDialog
          onClose={() => setLinking(false)}
          onChoose={(href) => {
            setLinking(false);
            editor.link(href);
          }}
        />
      )}
    </div>
  );
}

function isBlock(name: Exclude<MarkName, 'link'> | BlockName): name is BlockName {
  return name === 'bulletList' || name === 'orderedList' || name === 'blockquote' || name === 'codeBlock';
}

function LinkDialog({
  onClose,
  onChoose,
}: {
  readonly onClose: () => void;
  readonly onChoose: (href: string) => void;
}): JSX.Element {
  const [address, setAddress] = useState('https://');
  const [error, setError] = useState<string | undefined>(undefined);
  return (
    <Dialog title="Link" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          const given = address.trim();
          const href = given.includes(':') ? given : given.includes('@') ? `mailto:${given}` : `https://${given}`;
          if (/^(?:https?:\/\/[^\s/]+|mailto:\S+@\S+|tel:\+?[\d -]+)/i.test(href)) onChoose(href);
          else setError('Enter an address such as https://shop.example.');
        }}
      >
        <TextField label="Address" value={address} onValue={setAddress} error={error} autofocus />
        <div class="actions">
          <Button type="submit" kind="primary">
            Add link
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
