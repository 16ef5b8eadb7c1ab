import type { Migration } from '../../database.ts';

// Contacts are found by any part of three or more characters of name, email, phone and company (contactText), and by
// the start of a word for shorter input (contactWord). Both use `number`, the order of creation, so that the newest
// come first without sorting; it is a column because a table's own rowid may change when its file is copied.
export const contactText: Migration = {
  version: 12,
  name: 'contact-text',
  sql: `
ALTER TABLE contact ADD COLUMN number INTEGER;
UPDATE contact SET number = numbered.number FROM (SELECT id, row_number() OVER (ORDER BY createdAt, id) AS number FROM contact) AS numbered WHERE numbered.id = contact.id;
CREATE UNIQUE INDEX contactByNumber ON contact (number);

CREATE VIRTUAL TABLE contactText USING fts5(name, email, phone, company, content='contact', content_rowid='number', tokenize='trigram remove_diacritics 1');
CREATE VIRTUAL TABLE contactWord USING fts5(name, email, phone, company, content='contact', content_rowid='number', tokenize='unicode61 remove_diacritics 2', prefix='1 2', detail='none');
INSERT INTO contactText (contactText) VALUES ('rebuild');
INSERT INTO contactWord (contactWord) VALUES ('rebuild');

CREATE TRIGGER contactInserted AFTER INSERT ON contact BEGIN
  INSERT INTO contactText (rowid, name, email, phone, company) VALUES (new.number, new.name, new.email, new.phone, new.company);
  INSERT INTO contactWord (rowid, name, email, phone, company) VALUES (new.number, new.name, new.email, new.phone, new.company);
END;
CREATE TRIGGER contactRenamed AFTER UPDATE OF name, email, phone, company ON contact
  WHEN old.name IS NOT new.name OR old.email IS NOT new.email OR old.phone IS NOT new.phone OR old.company IS NOT new.company BEGIN
  INSERT INTO contactText (contactText, rowid, name, email, phone, company) VALUES ('delete', old.number, old.name, old.email, old.phone, old.company);
  INSERT INTO contactWord (contactWord, rowid, name, email, phone, company) VALUES ('delete', old.number, old.name, old.email, old.phone, old.company);
  INSERT INTO contactText (rowid, name, email, phone, company) VALUES (new.number, new.name, new.email, new.phone, new.company);
  INSERT INTO contactWord (rowid, name, email, phone, company) VALUES (new.number, new.name, new.email, new.phone, new.company);
END;
`,
};
