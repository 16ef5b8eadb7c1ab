// Saved replies of the workspace and one's own, with a search, edited in a dialog.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { useResource } from '../../design/resource.ts';
import { useLatest } from '../../design/steady.ts';
import { notify } from '../../notices.ts';
import { readAll } from '../../paging.ts';
import { agentName } from '../../people.ts';
import type { SavedReply } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { counted } from '../labels.ts';
import { Section, type SectionProps } from '../section.tsx';
import { ReplyDialog } from './reply-dialog.tsx';

const scopes = [
  { value: '', label: 'All' },
  { value: 'workspace', label: 'Shared' },
  { value: 'personal', label: 'Personal' },
] as const;
const channels = [
  { value: '', label: 'All' },
  { value: 'chat', label: 'Chats' },
  { value: 'ticket', label: 'Tickets' },
] as const;

type Filter<Choices extends readonly { readonly value: string }[]> = Choices[number]['value'];
type Open =
  | { readonly kind: 'edit'; readonly reply: SavedReply | undefined }
  | { readonly kind: 'delete'; readonly reply: SavedReply };

const typingMs = 200;

/** Admins and supervisors edit the workspace's; each agent edits its own. */
function mayWrite(reply: SavedReply): boolean {
  return reply.scope === 'workspace' ? hasRole('supervisor') : reply.createdByAgentId === me.value?.agent.id;
}

export function SavedReplies(_props: SectionProps): JSX.Element {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  const [scope, setScope] = useState<Filter<typeof scopes>>('');
  const [channel, setChannel] = useState<Filter<typeof channels>>('');
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const replies = useResource(
    () => readAll<SavedReply>('/saved-replies', 'savedReplies', { q, scope, channel }),
    [q, scope, channel],
  );
  const write = useLatest(() => setOpen({ kind: 'edit', reply: undefined }));
  useCommands(
    () => [{ id: 'savedReply.create', title: 'Add a saved reply', group: 'This page', keys: ['n'], run: write }],
    [],
  );
  const isFiltered = q !== '' || scope !== '' || channel !== '';
  return (
    <Section
      title="Saved replies"
      intro="Answers you give often. In a conversation, type / and the shortcut."
      actions={
        <Button kind="primary" icon="plus" onClick={write}>
          Add a saved reply
        </Button>
      }
    >
      <div class="list-tools">
        <TextField label="Find" type="search" maxLength={200} value={typed} onValue={setTyped} />
        <SelectField label="Owner" value={scope} choices={scopes} onValue={setScope} />
        <SelectField label="Channel" value={channel} choices={channels} onValue={setChannel} />
      </div>
      <p class="for-readers" role="status">
        {replies.value !== undefined && !replies.loading ? counted(replies.value.length, 'reply', 'replies') : ''}
      </p>
      {replies.failure !== undefined && <Failure error={replies.failure} retry={replies.reload} />}
      {replies.value === undefined && replies.failure === undefined && <Loading />}
      {replies.value?.length === 0 && (
        <Empty icon="bolt" title={isFiltered ? 'No matching saved replies' : 'No saved replies yet'}>
          <p>
            {isFiltered ? 'Try fewer or different words.' : 'Add the first one: what do customers ask again and again?'}
          </p>
        </Empty>
      )}
      {replies.value !== undefined && replies.value.length > 0 && (
        <ul class="stack">
          {replies.value.map((reply) => (
            <ReplyCard key={reply.id} reply={reply} onOpen={setOpen} />
          ))}
        </ul>
      )}
      {open?.kind === 'edit' && (
        <ReplyDialog reply={open.reply} onClose={() => setOpen(undefined)} onSaved={replies.reload} />
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={`Delete “${open.reply.title}”?`}
          action="Delete"
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await call('DELETE', `/saved-replies/${open.reply.id}`);
            replies.reload();
            notify({ kind: 'done', text: `${open.reply.shortcut} is deleted.` });
          }}
        >
          <p>
            {open.reply.scope === 'workspace'
              ? 'No one in the workspace can use it any more. Messages sent with it are kept.'
              : 'Messages sent with it are kept.'}
          </p>
        </Confirm>
      )}
    </Section>
  );
}

function ReplyCard({
  reply,
  onOpen,
}: {
  readonly reply: SavedReply;
  readonly onOpen: (open: Open) => void;
}): JSX.Element {
  const may = mayWrite(reply);
  return (
    <li class="card compact">
      <header>
        <h2 class="row reply-title">
          <code>{reply.shortcut}</code> {reply.title}
        </h2>
        <div class="row">
          {reply.scope === 'personal' && <Badge kind="accent">Personal</Badge>}
          {reply.channels.length === 1 && <Badge>{reply.channels[0] === 'chat' ? 'Only chats' : 'Only tickets'}</Badge>}
          {may && (
            <>
              <Button
                small
                icon="edit"
                aria-label={`Edit ${reply.title}`}
                onClick={() => onOpen({ kind: 'edit', reply })}
              >
                Edit
              </Button>
              <IconButton
                small
                icon="trash"
                label={`Delete ${reply.title}`}
                onClick={() => onOpen({ kind: 'delete', reply })}
              />
            </>
          )}
        </div>
      </header>
      <p class="reply-body">{reply.body}</p>
      {reply.scope === 'workspace' && <p class="soft reply-by">By {agentName(reply.createdByAgentId)}</p>}
    </li>
  );
}
