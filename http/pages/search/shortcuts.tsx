// The keyboard shortcuts of this page, by group.

import type { JSX } from 'preact';
import { commands, hasLetterKeys, keysForReading, setLetterKeys } from '../commands.ts';
import { Dialog } from '../design/dialog.tsx';
import { Checkbox } from '../design/field.tsx';
import { distinct, grouped } from './entries.ts';

export function Shortcuts({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const withKeys = distinct(commands.value).filter(({ keys = [] }) => keys.length > 0);
  const groups = grouped(withKeys);
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      <div class="stack">
        <Checkbox
          label="Use single-letter shortcuts"
          hint="Without them, shortcuts with Ctrl, Alt or ⌘ still work, and every command is in the palette."
          checked={hasLetterKeys.value}
          onChecked={setLetterKeys}
        />
        <div class="shortcuts">
          {groups.map(([title, group]) => (
            <section key={title} aria-label={title}>
              <h3>{title}</h3>
              <dl>
                {group.map(({ id, title: name, keys = [] }) => (
                  <div key={id}>
                    <dt>{name}</dt>
                    <dd>
                      {keys.map((one, index) => (
                        <span key={one}>
                          {index > 0 && <span class="soft"> or </span>}
                          <kbd>{keysForReading(one)}</kbd>
                        </span>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
    </Dialog>
  );
}
