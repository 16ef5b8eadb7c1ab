// Reads Intercom by its REST API, version 2.11: https://developers.intercom.com/docs/references/2.11/rest-api. The list
// leaves out what was said, so each conversation is read by itself; its first message is its source.

import type { ForeignConversation, ForeignMessage, ForeignPerson, ServiceReader } from './foreign.ts';
import {
  bodyIn,
  type Json,
  listIn,
  numberIn,
  objectIn,
  phoneIn,
  type ServiceApi,
  statusIn,
  textIn,
  timeIn,
} from './service-api.ts';

const conversationsPerPage = 20;
/** Of a conversation, as the API returns them. */
const maxParts = 500;
const statuses = { open: 'open', closed: 'solved', snoozed: 'pending' } as const;
const customers: ReadonlySet<unknown> = new Set(['user', 'lead', 'contact']);

export function intercomHeaders(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'intercom-version': '2.11' };
}

export function intercomReader(api: ServiceApi): ServiceReader {
  let emails: ReadonlyMap<string, string> | undefined;

  async function readEmails(): Promise<ReadonlyMap<string, string>> {
    const admins = listIn(objectIn(await api.get('/admins'))['admins']);
    return new Map(admins.map(({ id, email }) => [textIn(id) ?? '', textIn(email) ?? '']));
  }

  /** Whoever wrote as a customer; of one that an agent began, its first contact. */
  async function customerOf(one: Json, authors: readonly Json[]): Promise<ForeignConversation['customer']> {
    const wrote = authors.find(({ type }) => customers.has(type));
    const [contact] = listIn(objectIn(one['contacts'])['contacts']);
    const contactId = textIn(contact?.['id']);
    const person =
      wrote ?? (contactId === null ? {} : objectIn(await api.get(`/contacts/${encodeURIComponent(contactId)}`)));
    return { ...personIn(person), phone: phoneIn(person['phone']) };
  }

  return {
    async list(cursor) {
      const agents = (emails ??= await readEmails());
      const answer = objectIn(
        await api.get('/conversations', {
          per_page: String(conversationsPerPage),
          ...(cursor === null ? {} : { starting_after: cursor }),
        }),
      );
      const read = async (id: string): Promise<ForeignConversation> => {
        const one = objectIn(await api.get(`/conversations/${encodeURIComponent(id)}`));
        const source: Json = { ...objectIn(one['source']), part_type: 'comment', created_at: one['created_at'] };
        const within = objectIn(one['conversation_parts']);
        const parts = [source, ...listIn(within['conversation_parts'])];
        const customer = await customerOf(
          one,
          parts.map((part) => objectIn(part['author'])),
        );
        return {
          id: textIn(one['id']) ?? '',
          label: `#${textIn(one['id']) ?? ''}`,
          channel: objectIn(one['source'])['type'] === 'email' ? 'ticket' : 'chat',
          subject: plainIn(textIn(one['title']) ?? textIn(objectIn(one['source'])['subject'])),
          status: statusIn(one['state'], statuses),
          createdAt: timeIn(one['created_at']),
          customer,
          assigneeEmail: agents.get(textIn(one['admin_assignee_id']) ?? '') ?? null,
          tags: listIn(objectIn(one['tags'])['tags']).flatMap(({ name }) => textIn(name) ?? []),
          messages: parts.flatMap((part) => messageOf(part) ?? []),
          remark: (numberIn(within['total_count']) ?? 0) > maxParts ? `only ${maxParts} of its parts were read` : null,
        };
      };
      const ids = listIn(answer['conversations']).map(({ id }) => textIn(id) ?? '');
      return {
        items: ids.map((id) => ({ label: `#${id}`, read: () => read(id) })),
        next: ids.length === 0 ? null : textIn(objectIn(objectIn(answer['pages'])['next'])['starting_after']),
        total: numberIn(answer['total_count']),
      };
    },
  };
}

/** Undefined for a part without a text, such as an assignment. */
function messageOf(part: Json): ForeignMessage | undefined {
  const author = objectIn(part['author']);
  const html = bodyIn(part['body']);
  const files = listIn(part['attachments']).flatMap((file) => {
    const url = textIn(file['url']);
    if (url === null) return [];
    const contentType = textIn(file['content_type']);
    return [{ filename: textIn(file['name']) ?? 'file', url, size: numberIn(file['filesize']) ?? null, contentType }];
  });
  if (html === null && files.length === 0) return undefined;
  const isCustomers = customers.has(author['type']);
  const isNote = part['part_type'] === 'note';
  return {
    id: textIn(part['id']) ?? '',
    from: isNote ? 'note' : isCustomers ? 'customer' : author['type'] === 'bot' ? 'bot' : 'agent',
    author: author['type'] === 'bot' ? undefined : personIn(author),
    text: null,
    html,
    createdAt: timeIn(part['created_at']),
    files,
  };
}

function personIn({ name, email }: Json): ForeignPerson {
  return { name: textIn(name), email: textIn(email) };
}

/** Subjects have the tags of their editor. */
function plainIn(html: string | null): string | null {
  return html === null ? null : textIn(html.replace(/<[^>]*>/g, ''));
}
