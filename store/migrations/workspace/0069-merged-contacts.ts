import type { Migration } from '../../database.ts';

// Contacts with several addresses, and contacts that were merged into others. Each contact keeps its one address as the
// first of its list, which the search indexes hold already; only further ones have rows to be found by.
export const mergedContacts: Migration = {
  version: 69,
  name: 'merged-contacts',
  sql: `
ALTER TABLE contact ADD COLUMN emails TEXT NOT NULL DEFAULT '[]';
ALTER TABLE contact ADD COLUMN mergedInto TEXT REFERENCES contact (id);
UPDATE contact SET emails = json_array(email) WHERE email IS NOT NULL;
CREATE INDEX contactMergedInto ON contact (mergedInto) WHERE mergedInto IS NOT NULL;

CREATE TABLE contactEmail (
  address TEXT NOT NULL COLLATE NOCASE,
  contactId TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  PRIMARY KEY (address, contactId)
) STRICT, WITHOUT ROWID;
CREATE INDEX contactEmailOfContact ON contactEmail (contactId);

DROP TRIGGER contactAdded;
DROP TRIGGER contactRenamed;
CREATE TRIGGER contactAdded AFTER INSERT ON contact BEGIN
  INSERT INTO contactPart (rowid, text) VALUES (new.number, textOfContact(new.name, (SELECT group_concat(value, char(10)) FROM json_each(new.emails)), new.phone, new.company));
  INSERT INTO contactStart (rowid, text) VALUES (new.number, wordsOfContact(new.name, (SELECT group_concat(value, char(10)) FROM json_each(new.emails)), new.phone, new.company));
  INSERT INTO contactEmail (address, contactId) SELECT value, new.id FROM json_each(new.emails) WHERE key > 0;
END;
CREATE TRIGGER contactRenamed AFTER UPDATE OF name, emails, phone, company ON contact
  WHEN old.name IS NOT new.name OR old.emails IS NOT new.emails OR old.phone IS NOT new.phone OR old.company IS NOT new.company BEGIN
  INSERT OR REPLACE INTO contactPart (rowid, text) VALUES (new.number, textOfContact(new.name, (SELECT group_concat(value, char(10)) FROM json_each(new.emails)), new.phone, new.company));
  INSERT OR REPLACE INTO contactStart (rowid, text) VALUES (new.number, wordsOfContact(new.name, (SELECT group_concat(value, char(10)) FROM json_each(new.emails)), new.phone, new.company));
END;
CREATE TRIGGER contactAddressed AFTER UPDATE OF emails ON contact WHEN old.emails IS NOT new.emails BEGIN
  DELETE FROM contactEmail WHERE contactId = new.id;
  INSERT INTO contactEmail (address, contactId) SELECT value, new.id FROM json_each(new.emails) WHERE key > 0;
END;

-- What moved and how the other contact was before and after, in detail, to be undone within a day.
CREATE TABLE contactMerge (
  id TEXT PRIMARY KEY,
  fromId TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  toId TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  agentId TEXT NOT NULL REFERENCES agent (id),
  detail TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX contactMergeFrom ON contactMerge (fromId, createdAt, id);
CREATE INDEX contactMergeTo ON contactMerge (toId);
`,
};
