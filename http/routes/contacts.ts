// The customer directory. Specification 4.12.

import Type from 'typebox';
import { importContacts, planImport, type RowOutcome } from '../../engine/customers/contact-import.ts';
import { mergeContacts, unmergeContact } from '../../engine/customers/contact-merging.ts';
import { changeContact, createContact, listContacts, maxEmails, readContact } from '../../engine/customers/contacts.ts';
import { refuse } from '../../engine/errors.ts';
import { defaultLimit } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import { Contact, E164, Email, HistoryItem, Id, line, Name, nullable, Tags } from '../schemas/shared.ts';

/** Rows of an import that one command takes: some milliseconds. */
const rowsPerCommand = 25;
const Company = line(200);
const CustomFields = Type.Record(
  Type.String({ pattern: '^[^\\x00-\\x1f]{1,64}$' }),
  Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean(), Type.Null()]),
  {
    maxProperties: 50,
    additionalProperties: false,
    description:
      'At most 50 keys of 1 to 64 characters; values are text of at most 1000 characters, numbers, true, false or null.',
  },
);
const ById = Type.Object({ contactId: Id });
const Cell = Type.Optional(Type.String({ maxLength: 10_000 }));
const ContactRow = Type.Object(
  {
    name: Cell,
    email: Cell,
    phone: Cell,
    company: Cell,
    note: Cell,
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 })),
    customFields: Type.Optional(
      Type.Record(Type.String({ pattern: '^[\\s\\S]{1,1000}$' }), Type.String({ maxLength: 1000 }), {
        maxProperties: 50,
        additionalProperties: false,
        description: 'By the names of its columns, of which the first 64 characters are kept.',
      }),
    ),
  },
  { description: 'Texts as they are in the other system: what is not valid is named in the outcome.' },
);

export const contactRoutes = [
  route({
    operation: 'contact.list',
    method: 'GET',
    path: '/contacts',
    tag: 'Contacts',
    summary: 'List and search contacts',
    description:
      'Newest first. `search` finds contacts that have all of its words in their name, emails, phone or company. ' +
      'A word of three characters or more matches any part; a shorter one matches the beginning of a word, ' +
      'or anywhere in scripts without spaces. ' +
      'Case, diacritics and character widths are ignored. ' +
      'A phone number matches however it is formatted, with or without its country code.',
    access: { kind: 'agent', scope: 'visitors:read' },
    query: Type.Object({
      search: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
    }),
    reply: { status: 200, schema: Type.Object({ contacts: Type.Array(Contact) }) },
    refusals: [],
    async ask(view, { workspaceId, query }, { reader }) {
      const page = { limit: query.limit ?? defaultLimit, offset: query.offset ?? 0 };
      const search = query.search ?? '';
      return {
        contacts:
          search.trim() === '' ? listContacts(view, page) : await reader.contacts(workspaceId, { search, ...page }),
      };
    },
  }),

  route({
    operation: 'contact.read',
    method: 'GET',
    path: '/contacts/{contactId}',
    tag: 'Contacts',
    summary: 'Get a contact',
    description: 'Includes the newest 50 conversations of all its visitors that the agent may see, and their total.',
    access: { kind: 'agent', scope: 'visitors:read' },
    params: ById,
    reply: {
      status: 200,
      schema: Type.Object({
        contact: Contact,
        conversations: Type.Array(HistoryItem),
        stats: Type.Object({
          total: Type.Integer(),
          chats: Type.Integer(),
          tickets: Type.Integer(),
          calls: Type.Integer(),
        }),
      }),
    },
    refusals: [],
    read: (view, { params }) => readContact(view, params.contactId),
  }),

  route({
    operation: 'contact.create',
    method: 'POST',
    path: '/contacts',
    tag: 'Contacts',
    summary: 'Create a contact',
    description:
      'At least one of `name`, `email` and `phoneE164` is required. Several contacts may have the same email. ' +
      'Returns 409 `conflict`, with `detail.contactId`, for a further address of another contact: merge the two, if they are the same person.',
    access: { kind: 'agent', scope: 'visitors:write' },
    body: Type.Object({
      name: Type.Optional(Name),
      email: Type.Optional(Email),
      phoneE164: Type.Optional(E164),
      company: Type.Optional(Company),
    }),
    reply: { status: 201, schema: Type.Object({ contact: Contact }) },
    refusals: ['conflict'],
    run({ workspaceId, caller, body }, { engine }) {
      const { name, email, phoneE164, company } = body;
      return engine.execute(createContact, { workspaceId, caller, params: { name, email, phoneE164, company } });
    },
  }),

  route({
    operation: 'contact.import',
    method: 'POST',
    path: '/contacts/import',
    tag: 'Contacts',
    summary: 'Import contacts',
    description:
      'Rows of another system, at most 200 at a time. A row belongs to the contact with its email, or else its phone; it fills in ' +
      'what that contact lacks and overwrites nothing, so repeating an import changes nothing. No one is mailed. ' +
      'With `dryRun` nothing is changed, and the outcome is what would happen.',
    access: { kind: 'agent', scope: 'visitors:write', role: 'senior' },
    body: Type.Object({
      rows: Type.Array(ContactRow, { minItems: 1, maxItems: 200 }),
      dryRun: Type.Optional(Type.Boolean({ default: false })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        rows: Type.Array(
          Type.Object({
            outcome: Type.Enum(['created', 'updated', 'unchanged', 'invalid']),
            contactId: nullable(Id),
            problem: nullable(Type.String({ description: 'What of the row cannot be taken.' })),
          }),
        ),
      }),
    },
    refusals: [],
    async run({ workspaceId, caller, body: { rows, dryRun } }, { engine }) {
      if (dryRun !== true) {
        // One command after the other, so that customers' messages come in between.
        const outcomes: RowOutcome[] = [];
        for (let from = 0; from < rows.length; from += rowsPerCommand) {
          const params = { rows: rows.slice(from, from + rowsPerCommand) };
          outcomes.push(...(await engine.execute(importContacts, { workspaceId, caller, params })));
        }
        return { rows: outcomes };
      }
      const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      return { rows: planImport(view, rows) };
    },
  }),

  route({
    operation: 'contact.update',
    method: 'PATCH',
    path: '/contacts/{contactId}',
    tag: 'Contacts',
    summary: 'Update a contact',
    description:
      'Email and phone cannot be changed. `emails`, `tags` and `customFields` replace the previous values. ' +
      '`emails` begins with `email`; mail from each of them is of this contact, so only agents who work in tickets, supervisors and admins change them. ' +
      'Returns 409 `conflict`, with `detail.contactId`, for an address of another contact: merge the two. ' +
      'A merged contact cannot be changed (409 `conflict`).',
    access: { kind: 'agent', scope: 'visitors:write' },
    params: ById,
    body: Type.Object({
      name: Type.Optional(Name),
      emails: Type.Optional(Type.Array(Type.String({ maxLength: 254 }), { maxItems: maxEmails })),
      company: Type.Optional(nullable(Company)),
      note: Type.Optional(nullable(Type.String({ maxLength: 10_000 }))),
      tags: Type.Optional(Tags),
      customFields: Type.Optional(CustomFields),
    }),
    reply: { status: 200, schema: Type.Object({ contact: Contact }) },
    refusals: ['empty_patch', 'forbidden', 'conflict'],
    run({ workspaceId, caller, params, body }, { engine }) {
      const { name, emails, company, note, tags, customFields } = body;
      return engine.execute(changeContact, {
        workspaceId,
        caller,
        params: { ...params, changes: { name, emails, company, note, tags, customFields } },
      });
    },
  }),

  route({
    operation: 'contact.merge',
    method: 'POST',
    path: '/contacts/{contactId}/merge',
    tag: 'Contacts',
    summary: 'Merge a contact into another',
    description:
      'Moves its visitors and conversations to the contact `into`, which also gets its addresses, its tags, and what it lacks itself: ' +
      'where both have a value, it keeps its own. The merged contact is in no list any more and has `mergedInto`. Returns `into`. ' +
      'For agents who work in tickets, supervisors and admins. ' +
      'Returns 409 `conflict`, with `detail.mergedInto`, if either is merged already, ' +
      'and 422 for more than 500 visitors and conversations and if they have more than 10 addresses together.',
    access: { kind: 'agent', scope: 'visitors:write' },
    params: ById,
    body: Type.Object({ into: Id }),
    reply: { status: 200, schema: Type.Object({ contact: Contact }) },
    refusals: ['forbidden', 'conflict', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(mergeContacts, { workspaceId, caller, params: { ...params, ...body } }),
  }),

  route({
    operation: 'contact.unmerge',
    method: 'POST',
    path: '/contacts/{contactId}/unmerge',
    tag: 'Contacts',
    summary: 'Undo a merge of contacts',
    description:
      'Within a day. Puts back the visitors, their conversations, the addresses and the other values that the merge moved and that did not change since. ' +
      'Returns the contact. For agents who work in tickets, supervisors and admins. ' +
      'Returns 409 `conflict` if it is not merged, after a day, and while the other contact is itself merged.',
    access: { kind: 'agent', scope: 'visitors:write' },
    params: ById,
    body: undefined,
    reply: { status: 200, schema: Type.Object({ contact: Contact }) },
    refusals: ['forbidden', 'conflict'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(unmergeContact, { workspaceId, caller, params }),
  }),
];
