// Conversations of another system, a batch at a time. http/routes/imports.ts has the jobs that read one as a whole.

import Type, { type Static } from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import {
  type ImportedTalk,
  type ImportFrom,
  type ImportOutcome,
  importConversation,
  noteImport,
  nothingSeen,
  partsOf,
  planImport,
  wholeOf,
} from '../../engine/imports/conversation-import.ts';
import { mailIdsIn } from '../../engine/mail-addresses.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import { Refused } from '../../workers/failures.ts';
import { importedBatches } from '../limits/imported-batches.ts';
import { route } from '../route.ts';
import { AttachmentInput, E164, Email, Id, line, nullable } from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import { withKeys } from '../signed/upload-links.ts';

/** Of a batch. More messages of a conversation follow in another: what is there already stays. */
const maxConversations = 50;
const maxMessages = 200;
const maxBodyHtmlChars = 100_000;

const ExternalId = line(200, 'Its id in the other system.');
const Moment = Type.String({ format: 'date-time' });
const Words = Type.String({ maxLength: 10_000 });
const MailIds = Type.String({ maxLength: 10_000 });

const ImportedMessage = Type.Object({
  externalId: ExternalId,
  from: Type.Enum(['customer', 'agent', 'bot', 'note'], { description: '`note`: an internal note, for agents only.' }),
  author: Type.Optional(
    Type.Object(
      { name: Type.Optional(Type.String({ maxLength: 500 })), email: Type.Optional(Email) },
      { description: 'An agent is recognised by its address. Of the customer nothing is needed.' },
    ),
  ),
  body: Words,
  bodyHtml: Type.Optional(
    Type.String({ maxLength: maxBodyHtmlChars, description: 'Sanitised as that of a mail. May replace `body`.' }),
  ),
  createdAt: Moment,
  messageIdHeader: Type.Optional(
    Type.String({ maxLength: 998, description: 'Of a mail: an answer to it joins this conversation.' }),
  ),
  references: Type.Optional(MailIds),
  attachments: Type.Optional(Type.Array(AttachmentInput, { maxItems: 20 })),
});

const ImportedConversation = Type.Object({
  externalId: ExternalId,
  channel: Type.Enum(['chat', 'ticket']),
  subject: Type.Optional(Type.String({ maxLength: 1000 })),
  status: Type.Enum(['open', 'pending', 'solved', 'spam', 'closed']),
  createdAt: Type.Optional(Moment),
  customer: Type.Object({
    name: Type.Optional(Type.String({ maxLength: 500 })),
    email: Type.Optional(Email),
    phoneE164: Type.Optional(E164),
  }),
  assigneeEmail: Type.Optional(Email),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 })),
  messages: Type.Array(ImportedMessage, { minItems: 1, maxItems: maxMessages }),
});
type ImportedConversation = Static<typeof ImportedConversation>;

const Batch = Type.Object({
  source: line(100, 'The other system, such as zendesk:acme.'),
  conversations: Type.Array(ImportedConversation, { minItems: 1, maxItems: maxConversations }),
  departmentId: Type.Optional(nullable(Id)),
  dryRun: Type.Optional(Type.Boolean({ default: false })),
});
interface BatchCall {
  readonly workspaceId: string;
  readonly caller: Caller;
  readonly body: Static<typeof Batch>;
}

export const conversationImportRoutes = [
  route({
    operation: 'conversation.import',
    method: 'POST',
    path: '/conversations/import',
    tag: 'Conversations',
    summary: 'Import conversations',
    description:
      `Conversations of another system with their own times, at most ${maxConversations} with ${maxMessages} messages each at a time. ` +
      'Each is known by `source` and `externalId`, and each message by its own: repeating an import adds what is missing and changes nothing else. ' +
      'No one is mailed, notified or assigned work, nothing is routed, and no events are sent. Reports count them by their own times. ' +
      'An open chat arrives as `pending`, and a ticket whose customer has no address as a chat. ' +
      'With `dryRun` nothing is changed, and the outcome is what would happen. ' +
      `One batch of a workspace is imported at a time and one waits; of all workspaces ${importedBatches.atOnce} are imported at a time and ${importedBatches.waiting} wait. More return 429.`,
    access: {
      kind: 'agent',
      scope: 'conversations:write',
      also: ['messages:send', 'visitors:write'],
      role: 'admin',
    },
    body: Batch,
    reply: {
      status: 200,
      schema: Type.Object({
        conversations: Type.Array(
          Type.Object({
            externalId: Type.String(),
            outcome: Type.Enum(['created', 'updated', 'unchanged', 'invalid']),
            conversationId: nullable(Id),
            messages: Type.Integer({ description: 'Messages and notes that were added.' }),
            isNewCustomer: Type.Boolean(),
            unknownAgents: Type.Array(Type.String(), {
              description: 'Addresses of authors who are no agents here. Their messages have their names.',
            }),
            problem: nullable(Type.String({ description: 'Why it was left out.' })),
          }),
        ),
      }),
    },
    refusals: ['feature_locked', 'site_bootstrap_failed'],
    // A refused batch would cost as much as most of the others' calls, if it was parsed.
    requireTurn(workspaceId, { importTurns }) {
      if (!importTurns.hasRoom(workspaceId)) refuseTurn();
    },
    run: (call, services) =>
      services.importTurns.take(call.workspaceId, () => importBatch(call, services)) ?? refuseTurn(),
  }),
];

function refuseTurn(): never {
  return refuse('rate_limited', {
    message:
      'A batch of this workspace waits already, or many of others do. Send this one again when yours were answered, or later.',
    retryAfter: 1,
  });
}

async function importBatch(
  { workspaceId, caller, body }: BatchCall,
  services: Services,
): Promise<{ conversations: ImportOutcome[] }> {
  const { engine } = services;
  const { source, departmentId, dryRun } = body;
  const from: ImportFrom = { source, departmentId };
  const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
  requireOnce(body.conversations);
  const seen = nothingSeen();
  const plans: { talk: ImportedTalk; planned: ImportOutcome }[] = [];
  for (const conversation of body.conversations) {
    const talk = talkOf(services, conversation);
    plans.push({ talk, planned: planImport(view, from, talk, seen) });
    // Others have their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (dryRun === true) return { conversations: plans.map(({ planned }) => planned) };
  const outcomes: ImportOutcome[] = [];
  // One command after the other, so that customers' messages come in between.
  for (const { talk, planned } of plans) {
    const shown = await displayed(services, talk).catch((error: unknown) => {
      if (error instanceof Refused) return undefined;
      throw error;
    });
    if (shown === undefined) {
      outcomes.push({ ...planned, outcome: 'invalid', messages: 0, isNewCustomer: false, problem: tooSlow });
      continue;
    }
    const parts: ImportOutcome[] = [];
    for (const part of partsOf(shown))
      parts.push(await engine.execute(importConversation, { workspaceId, caller, params: { ...from, talk: part } }));
    outcomes.push(wholeOf(parts));
  }
  const count = (sought: ImportOutcome['outcome']): number =>
    outcomes.filter(({ outcome }) => outcome === sought).length;
  const counts = {
    created: count('created'),
    updated: count('updated'),
    messages: outcomes.reduce((sum, { messages }) => sum + messages, 0),
  };
  services.reader.noteMessages(workspaceId, counts.messages);
  if (counts.messages > 0) await engine.execute(noteImport, { workspaceId, caller, params: { source, counts } });
  return { conversations: outcomes };
}

const tooSlow = 'Reading a text of it takes too long or too much memory';

/** More messages of a conversation follow in another batch. Refuses invalid_body. */
function requireOnce(conversations: readonly ImportedConversation[]): void {
  const ids = new Set(conversations.map(({ externalId }) => externalId));
  if (ids.size < conversations.length) refuseField('invalid_body', 'conversations', 'must name each conversation once');
}

function talkOf({ uploadLinks }: Services, conversation: ImportedConversation): ImportedTalk {
  return {
    ...conversation,
    messages: conversation.messages.map(({ messageIdHeader, references, attachments, ...message }) => ({
      ...message,
      mailId: mailIdsIn(messageIdHeader)[0],
      references: mailIdsIn(references),
      attachments: withKeys(uploadLinks, attachments),
    })),
  };
}

/** HTML becomes what is shown of a mail. */
async function displayed({ importedMails }: Services, talk: ImportedTalk): Promise<ImportedTalk> {
  const messages: ImportedTalk['messages'][number][] = [];
  for (const message of talk.messages) {
    const { body, bodyHtml = null } = message;
    messages.push(
      bodyHtml === null
        ? message
        : { ...message, ...(await importedMails.display({ text: body === '' ? null : body, html: bodyHtml })) },
    );
  }
  return { ...talk, messages };
}
