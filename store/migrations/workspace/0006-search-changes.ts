import type { Migration } from '../../database.ts';

// What the search index follows besides new messages: the latest change of each conversation or visitor, one row each,
// renumbered at every change. Written by triggers, so that no writer can forget to. Adding a message sets none of the
// columns named here: the message itself is indexed.
export const searchChanges: Migration = {
  version: 6,
  name: 'search-changes',
  sql: `
CREATE TABLE conversationChange (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  conversationId TEXT NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER conversationAdded AFTER INSERT ON conversation
BEGIN
  INSERT INTO conversationChange (conversationId) VALUES (new.id);
END;
CREATE TRIGGER conversationChanged AFTER UPDATE OF channel, status, visitorId, departmentId, assignedAgentId, tags, handshake ON conversation
BEGIN
  DELETE FROM conversationChange WHERE conversationId = new.id;
  INSERT INTO conversationChange (conversationId) VALUES (new.id);
END;

-- Visitors that have a name or an email; their number is the one under which the index knows these words.
CREATE TABLE visitorChange (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  visitorId TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO visitorChange (visitorId) SELECT id FROM visitor WHERE name IS NOT NULL OR email IS NOT NULL ORDER BY id;

CREATE TRIGGER visitorNamed AFTER INSERT ON visitor WHEN new.name IS NOT NULL OR new.email IS NOT NULL
BEGIN
  INSERT INTO visitorChange (visitorId) VALUES (new.id);
END;
CREATE TRIGGER visitorRenamed AFTER UPDATE OF name, email ON visitor WHEN old.name IS NOT new.name OR old.email IS NOT new.email
BEGIN
  DELETE FROM visitorChange WHERE visitorId = new.id;
  INSERT INTO visitorChange (visitorId) VALUES (new.id);
END;
`,
};
