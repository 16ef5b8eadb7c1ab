// The saved replies after a slash, above the text field. The field keeps the focus; its keys move the choice.

import type { JSX } from 'preact';
import { haveRepliesFailed, type SavedReply } from './saved-replies.ts';

interface ReplyMenuProps {
  readonly id: string;
  readonly replies: readonly SavedReply[] | undefined;
  readonly active: number;
  readonly onChoose: (reply: SavedReply) => void;
}

export function ReplyMenu({ id, replies, active, onChoose }: ReplyMenuProps): JSX.Element {
  return (
    <div class="inbox-replies">
      {replies === undefined || replies.length === 0 ? (
        <p class="soft">
          {replies !== undefined
            ? 'No saved reply matches.'
            : haveRepliesFailed.value
              ? 'The saved replies could not be loaded. Keep typing to try again.'
              : 'Loading saved replies…'}{' '}
          <a href="/settings/saved-replies">Saved replies</a>
        </p>
      ) : (
        <ul role="listbox" id={id} aria-label="Saved replies">
          {replies.map((reply, index) => (
            <li
              key={reply.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              // Keeps the focus in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onChoose(reply)}
            >
              <strong>{reply.shortcut}</strong> <span>{reply.title}</span>
              <span class="soft truncate">{reply.body}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
