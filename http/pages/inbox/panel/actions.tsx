// The actions on a conversation, in its header: buttons, a menu and shortcuts. Actions that its state or the reader's
// role does not allow are not offered.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { type Command, keysForReading, useCommands } from '../../commands.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { LazyDialog, type Load, usePreloaded } from '../../design/lazy.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { useLatest } from '../../design/steady.ts';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import { agentName, departmentName, departments } from '../../people.ts';
import type { Conversation } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { beginArticle } from '../answer-article.ts';
import { act, StaleError } from '../conversations.ts';
import { setBlocked, visitorOf } from '../customers.ts';
import { addressIn, shownListOf } from '../lists.ts';
import { markUnread } from '../reading.ts';
import { isSelecting } from '../selection.ts';
import type { ActionDialogProps } from './action-dialog.tsx';
import { changeStatus, downloadRecord, markSpam, setFollowing, unmarkSpam } from './changes.ts';
import { canTake, mayGiveBack, mayMarkUnread, mayMove, type RequestedStatus, whatHappened } from './rules.ts';
import { take } from './take.ts';

type Asked = ActionDialogProps['asked'];

export const actionDialog: Load<ActionDialogProps> = async () => (await import('./action-dialog.tsx')).ActionDialog;

/** Another agent was faster: what happened, and the conversation's present state. */
interface Stale {
  readonly text: string;
  readonly now: Conversation;
}

function commandOf({ id, title, keys, words, run }: Action): Command {
  return {
    id: `conversation.${id}`,
    title,
    group: 'Conversation',
    ...(keys === undefined ? {} : { keys: [keys] }),
    ...(words === undefined ? {} : { words }),
    run,
  };
}

export function ConversationActions({
  conversation,
  back,
}: {
  readonly conversation: Conversation;
  /** The list it was opened from. */
  readonly back: string;
}): JSX.Element {
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const [stale, setStale] = useState<Stale | undefined>(undefined);
  usePreloaded(actionDialog);
  const isBlocked = visitorOf(conversation.visitorId)?.blockedAt != null;
  const actions = actionsOf(conversation, { isBlocked, back, ask: setAsked, onStale: setStale });

  const makeCommands = useLatest(() => actions.map(commandOf));
  // Only what decides which actions there are: commands that are added again come before those of the page.
  useCommands(
    () => (isSelecting.value ? [] : makeCommands()),
    [
      isSelecting.value,
      conversation.id,
      conversation.version,
      conversation.status,
      conversation.lastCustomerMessageAt === null,
      conversation.followerIds.includes(me.value?.agent.id ?? ''),
      isBlocked,
      back,
      me.value?.agent.role,
      me.value?.agent.channels.join(),
      departments.value.size,
    ],
  );

  const first = actions.find(({ id }) => id === main(conversation));
  const free =
    conversation.assignedAgentId === null && isWorkedOn(conversation)
      ? actions.find(({ id }) => id === 'take')
      : undefined;
  const inMenu = actions.filter((action) => action.id !== 'assign' && action !== first && action !== free);
  const close = (): void => setAsked(undefined);
  return (
    <div class="side-actions">
      {conversation.mergedInto === null && (
        <Button small icon="transfer" aria-label="Assign" title="Assign (A)" onClick={() => setAsked('assign')}>
          <span class="side-label">Assign</span>
        </Button>
      )}
      {free !== undefined && (
        <Button
          small
          kind="primary"
          icon="person"
          aria-label={free.title}
          title={`${free.title} (M)`}
          onClick={free.run}
        >
          <span class="side-label">{free.title}</span>
        </Button>
      )}
      {first !== undefined && (
        <Button
          small
          icon={first.id === 'solve' ? 'check' : 'inbox'}
          aria-label={first.title}
          title={`${first.title} (E)`}
          onClick={first.run}
        >
          <span class="side-label">{first.title}</span>
        </Button>
      )}
      <Menu label="More actions" class="button quiet icon-only small" items={inMenu.flatMap(menuItem)}>
        <Icon name="more" size={18} />
      </Menu>
      {asked !== undefined && <LazyDialog load={actionDialog} props={{ asked, conversation, onClose: close }} />}
      {stale !== undefined && (
        <Confirm
          title="Another agent was faster"
          action="Take it anyway"
          danger={false}
          onConfirm={() => takeAgain(stale.now, setStale)}
          onClose={() => setStale(undefined)}
        >
          <p>{stale.text} Nothing has changed yet.</p>
        </Confirm>
      )}
    </div>
  );
}

interface Action {
  readonly id: string;
  readonly title: string;
  readonly keys?: string;
  readonly words?: string;
  readonly isDanger?: boolean;
  /** Starts a new group of the menu. */
  readonly begins?: boolean;
  readonly run: () => void;
}

/** The action of the second button. */
function main(conversation: Conversation): string {
  return isWorkedOn(conversation) ? 'solve' : conversation.status === 'spam' ? 'notSpam' : 'reopen';
}

function isWorkedOn({ status }: Conversation): boolean {
  return status === 'open' || status === 'pending';
}

interface Doing {
  readonly isBlocked: boolean;
  readonly back: string;
  readonly ask: (what: Asked) => void;
  readonly onStale: (stale: Stale) => void;
}

function actionsOf(conversation: Conversation, on: Doing): Action[] {
  if (conversation.mergedInto !== null) return mergedActions(on);
  return [
    ...assignmentActions(conversation, on),
    ...statusActions(conversation, on),
    ...peopleActions(conversation, on),
    ...recordActions(conversation, on),
    ...removalActions(conversation, on),
  ].filter((action) => action !== false);
}

function assignmentActions(conversation: Conversation, on: Doing): (Action | false)[] {
  const own = me.value?.agent;
  const { assignedAgentId, channel } = conversation;
  const mayTake = own !== undefined && assignedAgentId !== own.id && canTake(own, channel);
  return [
    { id: 'assign', title: 'Assign', keys: 'a', words: 'offer hand over transfer agent', run: () => on.ask('assign') },
    mayTake && {
      id: 'take',
      title: assignedAgentId === null ? 'Take it' : 'Assign to me',
      keys: 'm',
      words: 'take mine assign to me',
      run: () => void takeOrAsk(conversation, on.onStale),
    },
    own !== undefined &&
      mayGiveBack(own, conversation) && {
        id: 'giveBack',
        title: 'Return to the queue',
        keys: 'q',
        words: 'unassign return release',
        run: () => void giveBack(conversation),
      },
    departments.value.size > 0 && {
      id: 'department',
      title: 'Move to a department',
      keys: 'd',
      words: 'team group',
      run: () => on.ask('department'),
    },
  ];
}

function statusActions(conversation: Conversation, on: Doing): (Action | false)[] {
  const { status } = conversation;
  const isOpen = isWorkedOn(conversation);
  const may = (to: RequestedStatus): boolean => mayMove(status, to);
  return [
    isOpen &&
      may('solved') && {
        id: 'solve',
        title: 'Solve',
        keys: 'e',
        words: 'done close resolve',
        run: () => solve(conversation, on.back),
      },
    !isOpen &&
      status !== 'spam' &&
      may('open') && {
        id: 'reopen',
        title: 'Reopen',
        keys: 'e',
        words: 'open',
        run: () => void changeStatus(conversation, 'open'),
      },
    status === 'closed' &&
      may('solved') && {
        id: 'solveClosed',
        title: 'Mark as solved',
        words: 'solve',
        run: () => void changeStatus(conversation, 'solved'),
      },
    may('pending') && {
      id: 'pending',
      title: 'Wait for the customer',
      keys: 'w',
      words: 'pending',
      run: () => void changeStatus(conversation, 'pending'),
    },
    isOpen && {
      id: 'snooze',
      title: 'Snooze',
      keys: 'h',
      words: 'later tomorrow remind pending',
      run: () => on.ask('snooze'),
    },
    status === 'pending' && {
      id: 'open',
      title: 'Stop waiting',
      keys: 'w',
      words: 'open pending',
      run: () => void changeStatus(conversation, 'open'),
    },
    mayMarkUnread(me.value?.agent, conversation) && {
      id: 'unread',
      title: 'Mark as unread',
      keys: 'shift+u',
      words: 'read later',
      run: () => void leaveUnread(conversation, on.back),
    },
  ];
}

/** Another ticket has its messages, so everything else is done there. */
function mergedActions(on: Doing): Action[] {
  return [{ id: 'unmerge', title: 'Undo the merge', words: 'split separate tickets', run: () => on.ask('unmerge') }];
}

function peopleActions(conversation: Conversation, on: Doing): (Action | false)[] {
  const { channel, followerIds, status } = conversation;
  const isFollowing = followerIds.includes(me.value?.agent.id ?? '');
  return [
    {
      id: 'follow',
      title: isFollowing ? 'Unfollow' : 'Follow',
      words: 'watch notify',
      begins: true,
      run: () => void setFollowing(conversation, !isFollowing),
    },
    { id: 'followers', title: 'Followers…', words: 'watch colleagues', run: () => on.ask('followers') },
    channel === 'ticket' &&
      status !== 'spam' && {
        id: 'merge',
        title: 'Merge into another ticket…',
        words: 'join combine duplicate',
        run: () => on.ask('merge'),
      },
  ];
}

function recordActions(conversation: Conversation, on: Doing): (Action | false)[] {
  return [
    { id: 'tags', title: 'Change tags', keys: 't', words: 'label', begins: true, run: () => on.ask('tags') },
    { id: 'transcript', title: 'Email a transcript', words: 'email send copy', run: () => on.ask('transcript') },
    {
      id: 'export',
      title: 'Download everything',
      words: 'export json record',
      run: () => void downloadRecord(conversation).catch(notifyFailure),
    },
    hasRole('admin') && {
      id: 'article',
      title: 'Make an article of it',
      words: 'knowledge base answer write',
      run: () => beginArticle(conversation),
    },
  ];
}

function removalActions(conversation: Conversation, on: Doing): (Action | false)[] {
  const { status, visitorId } = conversation;
  return [
    status !== 'spam' && {
      id: 'spam',
      title: 'Mark as spam',
      keys: '!',
      words: 'junk',
      begins: true,
      run: () => void markSpam(conversation),
    },
    status === 'spam' && {
      id: 'notSpam',
      title: 'Not spam',
      keys: 'e',
      words: 'junk reopen',
      begins: true,
      run: () => void unmarkSpam(conversation),
    },
    visitorId !== null &&
      !on.isBlocked && {
        id: 'block',
        title: 'Block the customer',
        words: 'ban lock out',
        isDanger: true,
        run: () => on.ask('block'),
      },
    visitorId !== null &&
      on.isBlocked && {
        id: 'unblock',
        title: 'Unblock the customer',
        words: 'ban',
        run: () => void setBlocked(conversation, false).catch(notifyFailure),
      },
  ];
}

function menuItem({ title, keys, isDanger = false, begins = false, run }: Action): MenuItem[] {
  const item: MenuItem = {
    label: title,
    danger: isDanger,
    run,
    ...(keys === undefined ? {} : { hint: keysForReading(keys) }),
  };
  return begins ? [{ kind: 'line' }, item] : [item];
}

async function takeOrAsk(conversation: Conversation, onStale: (stale: Stale) => void): Promise<void> {
  try {
    await takeAndSay(conversation);
  } catch (error) {
    if (error instanceof StaleError) onStale(staleOf(conversation, error));
    else
      notify({
        kind: 'problem',
        text: messageOf(error),
        action: { label: 'Try again', run: () => void takeOrAsk(conversation, onStale) },
      });
  }
}

/** Rejects as `take` does, after showing what happened. */
async function takeAgain(conversation: Conversation, onStale: (stale: Stale) => void): Promise<void> {
  try {
    await takeAndSay(conversation);
  } catch (error) {
    if (error instanceof StaleError) onStale(staleOf(conversation, error));
    throw error;
  }
}

async function takeAndSay(conversation: Conversation): Promise<void> {
  if (await take(conversation)) notify({ kind: 'done', text: 'It is assigned to you.' });
}

function staleOf(seen: Conversation, { was, now }: StaleError): Stale {
  return { text: whatHappened(was ?? seen, now, { agent: agentName, department: departmentName }), now };
}

/** Solves it and opens the next one of the list, if there is one. */
function solve(conversation: Conversation, back: string): void {
  const key = /^\/inbox\/([^/?]+)/.exec(back)?.[1] ?? '';
  const next = shownListOf(key)?.neighbourOf(conversation.id);
  const here = addressIn(key, conversation.id);
  void changeStatus(conversation, 'solved', { returnTo: () => navigate(here) });
  if (next !== undefined) navigate(addressIn(key, next));
}

/** Leaves the conversation, since an open one would be marked as read again. */
async function leaveUnread(conversation: Conversation, back: string): Promise<void> {
  const marked = markUnread(conversation.id);
  navigate(back);
  await marked.catch(notifyFailure);
}

async function giveBack(conversation: Conversation): Promise<void> {
  try {
    const { conversation: free } = await act(conversation.id, 'unassign', { expectedVersion: conversation.version });
    notify({
      kind: 'done',
      text:
        free.assignedAgentId === null ? 'It is back in the queue.' : `${agentName(free.assignedAgentId)} has it now.`,
    });
  } catch (error) {
    const text =
      error instanceof StaleError
        ? `${whatHappened(error.was ?? conversation, error.now, { agent: agentName, department: departmentName })} Nothing has changed.`
        : messageOf(error);
    notify({ kind: 'problem', text });
  }
}
