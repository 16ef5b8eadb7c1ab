import type { Migration } from '../../database.ts';

// Presence of customers: whether a browser has a socket, when its last one closed, when it last asked over HTTP instead,
// and its last page view, which visits are told apart by.
export const visitorPresence: Migration = {
  version: 46,
  name: 'visitor-presence',
  sql: `
ALTER TABLE visitor ADD COLUMN isOnline INTEGER NOT NULL DEFAULT 0 CHECK (isOnline IN (0, 1));
ALTER TABLE visitor ADD COLUMN goneAt TEXT;
ALTER TABLE visitor ADD COLUMN askedAt TEXT;
ALTER TABLE visitor ADD COLUMN viewedAt TEXT;
UPDATE visitor SET viewedAt = lastSeenAt;
CREATE INDEX visitorOnline ON visitor (id) WHERE isOnline = 1;
`,
};
