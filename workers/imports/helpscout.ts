// Reads Help Scout by its Mailbox API 2.0: https://developer.helpscout.com/mailbox-api. An app's id and secret give a
// token for two days; files need it, too, so they stay there and are named.

import type { Fetcher } from '../providers/fetcher.ts';
import {
  cutRemark,
  type ForeignConversation,
  type ForeignMessage,
  type ForeignPerson,
  maxMessages,
  type ServiceReader,
  SourceFailed,
} from './foreign.ts';
import {
  ask,
  bodyIn,
  createServiceApi,
  type Json,
  listIn,
  numberIn,
  objectIn,
  type ServiceApi,
  statusIn,
  textIn,
  timeIn,
} from './service-api.ts';

const statuses = { active: 'open', open: 'open', pending: 'pending', closed: 'solved', spam: 'spam' } as const;
const chats: ReadonlySet<unknown> = new Set(['chat', 'phone']);
/** What people wrote; the others are changes, and copies of what is elsewhere. */
const written: ReadonlySet<unknown> = new Set([
  'customer',
  'message',
  'note',
  'chat',
  'beaconchat',
  'phone',
  'forwardchild',
]);

export function helpScoutReader(options: {
  fetcher: Fetcher;
  name: string;
  url: string;
  appId: string;
  appSecret: string;
}): ServiceReader & { begin(): void } {
  const { fetcher, name, appId, appSecret } = options;
  const url = options.url.replace(/\/+$/, '');
  let api: ServiceApi | undefined;

  async function signIn(): Promise<ServiceApi> {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: appId, client_secret: appSecret });
    const { value } = await ask(fetcher, { name, url: `${url}/v2/oauth2/token`, headers: {}, form });
    const token = textIn(objectIn(value)['access_token']);
    if (token === null) throw new SourceFailed('final', `${name} gave no token for the app.`);
    return createServiceApi({ fetcher, name, url, headers: { authorization: `Bearer ${token}` } });
  }

  return {
    begin: () => api?.begin(),
    async list(cursor) {
      const signedIn = (api ??= await signIn());
      const number = Number(cursor ?? 1);
      const query = { status: 'all', sortField: 'createdAt', sortOrder: 'asc', page: String(number) };
      const answer = objectIn(await signedIn.get('/v2/conversations', query));
      const conversations = listIn(objectIn(answer['_embedded'])['conversations']);
      const page = objectIn(answer['page']);
      return {
        items: conversations
          .filter(({ state }) => state !== 'deleted' && state !== 'draft')
          .map((one) => ({
            label: labelOf(one),
            read: async () => conversationOf(one, await threadsOf(signedIn, textIn(one['id']) ?? '')),
          })),
        next: conversations.length > 0 && number < (numberIn(page['totalPages']) ?? 0) ? String(number + 1) : null,
        total: numberIn(page['totalElements']),
      };
    },
  };
}

async function threadsOf(api: ServiceApi, id: string): Promise<{ threads: Json[]; isCut: boolean }> {
  const threads: Json[] = [];
  for (let number = 1; ; number += 1) {
    const answer = objectIn(
      await api.get(`/v2/conversations/${encodeURIComponent(id)}/threads`, { page: String(number) }),
    );
    const page = listIn(objectIn(answer['_embedded'])['threads']);
    threads.push(...page);
    const isLast = page.length === 0 || number >= (numberIn(objectIn(answer['page'])['totalPages']) ?? 0);
    // The newest come first.
    if (isLast || threads.length >= maxMessages)
      return { threads: threads.slice(0, maxMessages).reverse(), isCut: !isLast };
  }
}

function conversationOf(
  one: Json,
  { threads, isCut }: { threads: readonly Json[]; isCut: boolean },
): ForeignConversation {
  const customer = objectIn(one['primaryCustomer']);
  const said = threads.filter(({ type, state }) => written.has(type) && (state === undefined || state === 'published'));
  const files = said.flatMap((thread) => listIn(objectIn(thread['_embedded'])['attachments'])).length;
  return {
    id: textIn(one['id']) ?? '',
    label: labelOf(one),
    channel: chats.has(one['type']) ? 'chat' : 'ticket',
    subject: textIn(one['subject']),
    status: statusIn(one['status'], statuses),
    createdAt: timeIn(one['createdAt']),
    customer: { ...personIn(customer), phone: null },
    assigneeEmail: textIn(objectIn(one['assignee'])['email']),
    tags: listIn(one['tags']).flatMap(({ tag }) => textIn(tag) ?? []),
    messages: said.map(messageOf),
    remark: isCut ? cutRemark.replace('first', 'newest') : files > 0 ? `${files} of its files stayed there` : null,
  };
}

function labelOf(one: Json): string {
  return `#${textIn(one['number']) ?? textIn(one['id']) ?? ''}`;
}

function messageOf(thread: Json): ForeignMessage {
  const author = objectIn(thread['createdBy']);
  const isCustomers = author['type'] === 'customer';
  return {
    id: textIn(thread['id']) ?? '',
    from: thread['type'] === 'note' ? 'note' : isCustomers ? 'customer' : 'agent',
    author: personIn(author),
    text: null,
    html: bodyIn(thread['body']),
    createdAt: timeIn(thread['createdAt']),
    files: [],
  };
}

function personIn({ first, last, email }: Json): ForeignPerson {
  const name = [textIn(first), textIn(last)].filter((part) => part !== null).join(' ');
  return { name: name === '' ? null : name, email: textIn(email) };
}
