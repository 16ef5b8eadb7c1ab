// An article of the knowledge base from an answer in a conversation: the customer's question becomes its title, and the
// agent's last message its text. The editor opens with both, and nothing is saved before its writer says so.

import { navigate } from '../location.ts';
import type { Conversation } from '../records.ts';
import { keepDraft } from '../settings/knowledge/article-drafts.ts';
import { threadOf } from './threads.ts';

const maxTitleChars = 300;

export function beginArticle({ id, subject }: Pick<Conversation, 'id' | 'subject'>): void {
  const messages = threadOf(id).messages.peek();
  const at = messages.findLastIndex(({ senderType }) => senderType === 'agent');
  const question = messages.slice(0, Math.max(0, at)).findLast(({ senderType }) => senderType === 'visitor');
  const title = (question?.body ?? subject ?? '').replaceAll(/\s+/g, ' ').trim();
  keepDraft('new', {
    title: title.slice(0, maxTitleChars),
    body: messages[at]?.body ?? '',
    collection: '',
    language: '',
    slug: '',
    base: undefined,
  });
  navigate('/settings/knowledge/new');
}
