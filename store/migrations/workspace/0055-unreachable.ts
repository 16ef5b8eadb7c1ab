import type { Migration } from '../../database.ts';

// Chats whose visitor has left without an address.
export const unreachable: Migration = {
  version: 55,
  name: 'unreachable',
  sql: 'ALTER TABLE conversation ADD COLUMN unreachable INTEGER NOT NULL DEFAULT 0 CHECK (unreachable IN (0, 1));',
};
