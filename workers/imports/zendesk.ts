// Reads Zendesk Support by its incremental export of tickets, and the comments of each:
// https://developer.zendesk.com/api-reference/ticketing/ticket-management/incremental_exports

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

/** The export may be asked ten times a minute. */
const ticketsPerPage = 50;
const commentsPerPage = 100;
const statuses = {
  new: 'open',
  open: 'open',
  pending: 'pending',
  hold: 'pending',
  solved: 'solved',
  closed: 'closed',
} as const;

type Users = ReadonlyMap<string, Json>;

/** With an API token, the user is its email address followed by /token. */
export function zendeskHeaders(user: string, token: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}/token:${token}`).toString('base64')}` };
}

export function zendeskReader(api: ServiceApi): ServiceReader {
  async function commentsOf(ticketId: string): Promise<{ comments: Json[]; users: Json[]; isCut: boolean }> {
    const [comments, users]: [Json[], Json[]] = [[], []];
    let after: string | null = null;
    do {
      const answer = objectIn(
        await api.get(`/api/v2/tickets/${encodeURIComponent(ticketId)}/comments.json`, {
          include: 'users',
          'page[size]': String(commentsPerPage),
          ...(after === null ? {} : { 'page[after]': after }),
        }),
      );
      const page = listIn(answer['comments']);
      comments.push(...page);
      users.push(...listIn(answer['users']));
      const meta = objectIn(answer['meta']);
      // An empty page that names another leads nowhere.
      after = meta['has_more'] === true && page.length > 0 ? textIn(meta['after_cursor']) : null;
    } while (after !== null && comments.length < maxMessages);
    return { comments: comments.slice(0, maxMessages), users, isCut: after !== null };
  }

  return {
    async list(cursor) {
      const answer = objectIn(
        await api.get('/api/v2/incremental/tickets/cursor.json', {
          per_page: String(ticketsPerPage),
          include: 'users',
          ...(cursor === null ? { start_time: '0' } : { cursor }),
        }),
      );
      const tickets = listIn(answer['tickets']);
      const people = usersOf(listIn(answer['users']));
      const counted = cursor === null ? objectIn(objectIn(await api.get('/api/v2/tickets/count.json'))['count']) : {};
      return {
        items: tickets
          .filter(({ status }) => status !== 'deleted')
          .map((ticket) => {
            const id = textIn(ticket['id']) ?? '';
            return {
              label: `#${id}`,
              async read() {
                const { comments, users, isCut } = await commentsOf(id);
                return ticketOf(ticket, { comments, users: new Map([...people, ...usersOf(users)]), isCut });
              },
            };
          }),
        next: answer['end_of_stream'] === true || tickets.length === 0 ? null : textIn(answer['after_cursor']),
        total: numberIn(counted['value']),
      };
    },
  };
}

function usersOf(users: readonly Json[]): Map<string, Json> {
  return new Map(users.map((user) => [textIn(user['id']) ?? '', user]));
}

function ticketOf(
  ticket: Json,
  { comments, users, isCut }: { comments: readonly Json[]; users: Users; isCut: boolean },
): ForeignConversation {
  const id = textIn(ticket['id']) ?? '';
  const requesterId = textIn(ticket['requester_id']) ?? '';
  const requester = users.get(requesterId) ?? {};
  return {
    id,
    label: `#${id}`,
    channel: 'ticket',
    subject: textIn(ticket['raw_subject']) ?? textIn(ticket['subject']),
    status: statusIn(ticket['status'], statuses),
    createdAt: timeIn(ticket['created_at']),
    customer: {
      name: textIn(requester['name']),
      email: textIn(requester['email']),
      phone: phoneIn(requester['phone']),
    },
    assigneeEmail: textIn(users.get(textIn(ticket['assignee_id']) ?? '')?.['email']),
    tags: textsIn(ticket['tags']),
    messages: comments.map((comment) => commentOf(comment, { users, requesterId })),
    remark: isCut ? cutRemark : null,
  };
}

function commentOf(comment: Json, { users, requesterId }: { users: Users; requesterId: string }): ForeignMessage {
  const authorId = textIn(comment['author_id']) ?? '';
  const author = users.get(authorId) ?? {};
  const isCustomers = authorId === requesterId || author['role'] === 'end-user';
  return {
    id: textIn(comment['id']) ?? '',
    from: comment['public'] === false ? 'note' : isCustomers ? 'customer' : 'agent',
    author: authorId === requesterId ? undefined : { name: textIn(author['name']), email: textIn(author['email']) },
    text: bodyIn(comment['plain_body']) ?? bodyIn(comment['body']),
    html: bodyIn(comment['html_body']),
    createdAt: timeIn(comment['created_at']),
    messageId: textIn(objectIn(objectIn(comment['metadata'])['system'])['message_id']) ?? undefined,
    files: listIn(comment['attachments']).flatMap((file) => {
      const url = textIn(file['content_url']);
      if (url === null) return [];
      const contentType = textIn(file['content_type']);
      return [
        { filename: textIn(file['file_name']) ?? 'file', url, size: numberIn(file['size']) ?? null, contentType },
      ];
    }),
  };
}
