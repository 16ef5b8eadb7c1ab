// Deliberate defects of presence, absence, mail for what was not seen, mail that was put off, and mailboxes elsewhere.
// The simulation must find each, or it proves nothing about them.

import { unseenDeadline } from '../../engine/conversations/unseen.ts';
import { advanceMailbox, checkMailbox } from '../../engine/mail/mailboxes.ts';
import type { CommandDefinition } from '../../engine/runtime/command.ts';
import type { Context } from '../../engine/runtime/context.ts';
import { endLostSockets, goAway, noteSockets } from '../../engine/team/presence.ts';
import { mailUnseenAnswers } from '../../engine/tickets/chat-mail.ts';
import { sendDueDraft, takeBackDraft } from '../../engine/tickets/drafts.ts';
import { receiveMail } from '../../engine/tickets/inbound-mail.ts';
import { noteVisitorSockets } from '../../engine/widget/presence.ts';
import { putAgent, theRoster } from '../../engine/workspace/roster.ts';

export interface Defect {
  readonly name: string;
  /** What the simulation says of it. */
  readonly finding: RegExp;
  /** Returns how to remove it again. */
  plant(): () => void;
}

type Handle<Params, Result> = CommandDefinition<Params, Result>['handle'];

/** `change` gets what the command does without the defect. */
function defect<Params, Result>(
  name: string,
  finding: RegExp,
  command: CommandDefinition<Params, Result>,
  change: (right: Handle<Params, Result>) => Handle<Params, Result>,
): Defect {
  return {
    name,
    finding,
    plant() {
      const { handle } = command;
      Object.assign(command, { handle: change(handle) });
      return () => void Object.assign(command, { handle });
    },
  };
}

const waitingIn = (ctx: Context, visitorId: string): string[] =>
  ctx.db.all<{ id: string }>('SELECT id FROM conversation WHERE visitorId = ?', [visitorId]).map(({ id }) => id);

export const absence: readonly Defect[] = [
  defect(
    'the last socket of an agent closes unnoticed',
    /counts as there without a socket/,
    noteSockets,
    (right) => (ctx, params) => params.isOnline && right(ctx, params),
  ),
  defect(
    'sockets of a process that has ended count as open',
    /counts as there without a socket/,
    endLostSockets,
    () => () => [],
  ),
  defect(
    'chats wait for an agent who has fallen away',
    /waits for \w+, to whom it was routed and who is away/,
    goAway,
    () =>
      (ctx, { subjectId }) => {
        const agent = theRoster(ctx).agents.get(subjectId);
        if (agent?.status === 'available') putAgent(ctx, { ...agent, status: 'away', statusSource: 'automatic' });
      },
  ),
];

export const automaticStatus: readonly Defect[] = [
  defect('an agent who is gone stays available', /and never becomes away/, goAway, () => () => {}),
  defect(
    'an agent who chose to be away is available with its next socket',
    /became available by itself, and had chosen to be away/,
    noteSockets,
    (right) => (ctx, params) => {
      const agent = theRoster(ctx).agents.get(params.agentId);
      if (params.isOnline && agent?.status === 'away')
        putAgent(ctx, { ...agent, status: 'available', statusSource: 'automatic' });
      return right(ctx, params);
    },
  ),
  defect(
    'an agent who returns stays away',
    /is there, and still away by itself|has a socket, became away by itself/,
    noteSockets,
    (right) => (ctx, params) => {
      const before = theRoster(ctx).agents.get(params.agentId);
      const isNew = right(ctx, params);
      const agent = theRoster(ctx).agents.get(params.agentId);
      if (before?.status === 'away' && agent !== undefined) putAgent(ctx, { ...agent, status: 'away' });
      return isNew;
    },
  ),
];

export const unseenMail: readonly Defect[] = [
  defect(
    'an answer is mailed with every mail',
    /is mailed again|repeats text \d+|waits for a customer who is gone/,
    mailUnseenAnswers,
    (right) => (ctx, params) => {
      ctx.db.run(`UPDATE message SET deliveryStatus = NULL WHERE conversationId = ?`, [params.subjectId]);
      right(ctx, params);
    },
  ),
  defect(
    'a customer who is there is mailed',
    /is mailed to a customer who is there/,
    mailUnseenAnswers,
    (right) => (ctx, params) => {
      const [visitor] = ctx.db.all<{ id: string; isOnline: number }>(
        'SELECT visitor.id, visitor.isOnline FROM visitor JOIN conversation ON visitorId = visitor.id WHERE conversation.id = ?',
        [params.subjectId],
      );
      if (visitor === undefined) return;
      ctx.db.run('UPDATE visitor SET isOnline = 0 WHERE id = ?', [visitor.id]);
      right(ctx, params);
      ctx.db.run('UPDATE visitor SET isOnline = ? WHERE id = ?', [visitor.isOnline, visitor.id]);
    },
  ),
  defect(
    'nothing is mailed to a customer who leaves after the answer',
    /waits for a customer who is gone, and is never mailed/,
    noteVisitorSockets,
    (right) => (ctx, params) => {
      right(ctx, params);
      for (const id of waitingIn(ctx, params.visitorId)) ctx.clearDeadline(unseenDeadline, id);
    },
  ),
];

export const scheduledMail: readonly Defect[] = [
  defect(
    'a mail that was taken back leaves all the same',
    /left, and had been taken back/,
    takeBackDraft,
    (right) => (ctx, params) => {
      const [before] = ctx.db.all<{ state: string; content: string; sendAt: string }>(
        'SELECT state, content, sendAt FROM draft WHERE id = ?',
        [params.draftId],
      );
      const draft = right(ctx, params);
      if (before?.state === 'scheduled')
        ctx.db.run('UPDATE draft SET state = ?, content = ?, sendAt = ? WHERE id = ?', [
          before.state,
          before.content,
          before.sendAt,
          params.draftId,
        ]);
      return draft;
    },
  ),
  defect('a mail that is due is forgotten', /was due, and still waits/, sendDueDraft, () => (): 'not due' => 'not due'),
];

export const mailboxesElsewhere: readonly Defect[] = [
  defect('a mail is recognised by nothing', /was taken twice/, receiveMail, (right) => (ctx, { mail }) => {
    const messageId = `<${ctx.ids.uuid()}@customer.example>`;
    return right(ctx, { mail: { ...mail, messageId } });
  }),
  defect(
    'a check goes on behind a mail that it has not read',
    /is lost/,
    advanceMailbox,
    (right) => (ctx, params) => right(ctx, { ...params, lastUid: params.lastUid + 1 }),
  ),
  defect(
    'a check that fails counts as one that read the mailbox',
    /is lost/,
    checkMailbox,
    (right) => (ctx, params) => {
      ctx.db.run('UPDATE mailbox SET checkedAt = ? WHERE id = ?', [ctx.at, params.subjectId]);
      right(ctx, params);
    },
  ),
];
