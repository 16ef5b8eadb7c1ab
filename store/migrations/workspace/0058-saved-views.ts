import type { Migration } from '../../database.ts';

// Filters of the inbox that agents keep under a name: each agent's own, and the team's.
export const savedViews: Migration = {
  version: 58,
  name: 'saved-views',
  sql: `
CREATE TABLE savedView (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('own', 'team')),
  filter TEXT NOT NULL,
  sort TEXT NOT NULL CHECK (sort IN ('newest', 'oldest', 'longest_waiting')),
  createdByAgentId TEXT NOT NULL REFERENCES agent (id),
  createdAt TEXT NOT NULL,
  updatedAt TEXT NOT NULL
) STRICT;
CREATE INDEX savedViewOfTeam ON savedView (createdAt, id) WHERE scope = 'team';
CREATE INDEX savedViewOfAgent ON savedView (createdByAgentId, createdAt, id) WHERE scope = 'own';
`,
};
