import type { Migration } from '../../database.ts';

// The few open and pending conversations of a tag or of a site. Both indexes change only when a conversation is opened or
// closed, or its tags change.
export const queueByTagAndSite: Migration = {
  version: 76,
  name: 'queue-by-tag-and-site',
  sql: `
CREATE INDEX conversationByTags ON conversation (tags, id, status) WHERE status IN ('open', 'pending') AND tags <> '[]';
CREATE INDEX conversationOfSite ON conversation (siteId, id, status) WHERE status IN ('open', 'pending');
`,
};
