// Up to three quick replies of a campaign.

import type { JSX } from 'preact';
import { Button, IconButton } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import type { QuickReply } from './campaign.ts';

const maxReplies = 3;
const actions = [
  { value: 'start-chat', label: 'starts a chat with it' },
  { value: 'navigate', label: 'opens a page' },
  { value: 'dismiss', label: 'closes the message' },
] as const;

export function QuickReplyFields({
  replies,
  onReplies,
  errorOf,
}: {
  readonly replies: readonly QuickReply[];
  readonly onReplies: (replies: readonly QuickReply[]) => void;
  readonly errorOf: (path: string) => string | undefined;
}): JSX.Element {
  const change = (index: number, changes: Partial<QuickReply>): void =>
    onReplies(replies.map((one, at) => (at === index ? { ...one, ...changes } : one)));
  return (
    <fieldset class="check-list">
      <legend>Quick replies</legend>
      <p class="hint">Up to {maxReplies}. Without any, a button opens the chat.</p>
      <ul class="stack">
        {replies.map((reply, index) => (
          <li key={index}>
            <div class="quick-reply" role="group" aria-label={`Quick reply ${index + 1}`}>
              <TextField
                label="Button text"
                required
                maxLength={80}
                value={reply.label}
                onValue={(label) => change(index, { label })}
                error={errorOf(`.${index}.label`)}
              />
              <SelectField
                label="and"
                value={reply.action}
                choices={actions}
                onValue={(action) => change(index, { action })}
                error={errorOf(`.${index}.action`)}
              />
              {reply.action === 'navigate' && (
                <TextField
                  label="Page"
                  required
                  maxLength={2048}
                  placeholder="/prices or https://…"
                  value={reply.value ?? ''}
                  onValue={(value) => change(index, { value })}
                  error={errorOf(`.${index}.value`)}
                />
              )}
              <IconButton
                icon="trash"
                label={`Remove quick reply ${index + 1}`}
                onClick={() => onReplies(replies.filter((_, at) => at !== index))}
              />
            </div>
          </li>
        ))}
      </ul>
      {replies.length < maxReplies && (
        <p class="quick-add">
          <Button small icon="plus" onClick={() => onReplies([...replies, { label: '', action: 'start-chat' }])}>
            Add a quick reply
          </Button>
        </p>
      )}
    </fieldset>
  );
}
