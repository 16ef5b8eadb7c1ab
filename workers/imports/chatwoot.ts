// Reads Chatwoot by its application API: https://developers.chatwoot.com/api-reference. Agents' addresses are only in the
// list of agents, so it is read first.

import {
  cutRemark,
  type ForeignConversation,
  type ForeignMessage,
  maxMessages,
  type ServiceReader,
} from './foreign.ts';
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
  textsIn,
  timeIn,
} from './service-api.ts';

/** Of a page of messages. */
const messagesPerPage = 100;
const [incoming, activity] = [0, 2];
const statuses = { open: 'open', resolved: 'solved', pending: 'pending', snoozed: 'pending' } as const;

export function chatwootReader(api: ServiceApi, account: string): ServiceReader {
  const base = `/api/v1/accounts/${encodeURIComponent(account)}`;
  let emails: ReadonlyMap<string, string> | undefined;

  async function readEmails(): Promise<ReadonlyMap<string, string>> {
    const agents = listIn(await api.get(`${base}/agents`));
    return new Map(agents.map(({ id, email }) => [textIn(id) ?? '', textIn(email) ?? '']));
  }

  async function messagesOf(id: string): Promise<{ messages: Json[]; isCut: boolean }> {
    const messages: Json[] = [];
    for (let after = 0; messages.length < maxMessages; ) {
      const page = listIn(
        objectIn(await api.get(`${base}/conversations/${encodeURIComponent(id)}/messages`, { after: String(after) }))[
          'payload'
        ],
      );
      const fresh = page.filter((message) => (numberIn(message['id']) ?? 0) > after);
      messages.push(...fresh);
      after = Math.max(after, ...fresh.map((message) => numberIn(message['id']) ?? 0));
      if (fresh.length < messagesPerPage)
        return { messages: messages.slice(0, maxMessages), isCut: messages.length > maxMessages };
    }
    return { messages: messages.slice(0, maxMessages), isCut: true };
  }

  return {
    async list(cursor) {
      const agents = (emails ??= await readEmails());
      const number = Number(cursor ?? 1);
      const query = { status: 'all', assignee_type: 'all', sort_by: 'created_at_asc', page: String(number) };
      const data = objectIn(objectIn(await api.get(`${base}/conversations`, query))['data']);
      const conversations = listIn(data['payload']);
      return {
        items: conversations.map((one) => {
          const id = textIn(one['id']) ?? '';
          return {
            label: `#${id}`,
            read: async () => conversationOf(one, { id, agents, ...(await messagesOf(id)) }),
          };
        }),
        next: conversations.length === 0 ? null : String(number + 1),
        total: numberIn(objectIn(data['meta'])['all_count']),
      };
    },
  };
}

function conversationOf(
  one: Json,
  read: { id: string; agents: ReadonlyMap<string, string>; messages: readonly Json[]; isCut: boolean },
): ForeignConversation {
  const meta = objectIn(one['meta']);
  const sender = objectIn(meta['sender']);
  const isMail = textIn(meta['channel']) === 'Channel::Email';
  const said = read.messages.filter((message) => message['message_type'] !== activity);
  const mails = said.map((message) => objectIn(objectIn(message['content_attributes'])['email']));
  return {
    id: read.id,
    label: `#${read.id}`,
    channel: isMail ? 'ticket' : 'chat',
    subject: textIn(objectIn(one['additional_attributes'])['mail_subject']) ?? textIn(mails[0]?.['subject']),
    status: statusIn(one['status'], statuses),
    createdAt: timeIn(one['created_at']),
    customer: { name: textIn(sender['name']), email: textIn(sender['email']), phone: phoneIn(sender['phone_number']) },
    assigneeEmail: textIn(objectIn(meta['assignee'])['email']),
    tags: textsIn(one['labels']),
    messages: said.map((message) => messageOf(message, { isMail, agents: read.agents })),
    remark: read.isCut ? cutRemark : null,
  };
}

function messageOf(
  message: Json,
  { isMail, agents }: { isMail: boolean; agents: ReadonlyMap<string, string> },
): ForeignMessage {
  const sender = objectIn(message['sender']);
  const mail = objectIn(objectIn(message['content_attributes'])['email']);
  const isCustomers = message['message_type'] === incoming;
  const isBots = sender['type'] === 'agent_bot' || (!isCustomers && message['sender'] == null);
  const author = {
    name: textIn(sender['name']),
    email: textIn(sender['email']) ?? agents.get(textIn(sender['id']) ?? '') ?? null,
  };
  const messageId = textIn(mail['message_id']) ?? (isMail ? textIn(message['source_id']) : null);
  return {
    id: textIn(message['id']) ?? '',
    from: message['private'] === true ? 'note' : isCustomers ? 'customer' : isBots ? 'bot' : 'agent',
    author: isCustomers || isBots ? undefined : author,
    text: bodyIn(message['content']),
    html: null,
    createdAt: timeIn(message['created_at']),
    messageId: messageId ?? undefined,
    files: listIn(message['attachments']).flatMap((file) => {
      const url = textIn(file['data_url']);
      return url === null
        ? []
        : [{ filename: nameIn(url), url, size: numberIn(file['file_size']) ?? null, contentType: null }];
    }),
  };
}

function nameIn(url: string): string {
  const name = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name) || 'file';
  } catch {
    // A lone % in a name.
    return name || 'file';
  }
}
