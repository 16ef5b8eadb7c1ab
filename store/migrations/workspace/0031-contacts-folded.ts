import type { Migration } from '../../database.ts';

// Contacts are found by their text as store/contact-text.ts folds it, in any script. Triggers write new rows of the two
// indexes; a deadline indexes existing contacts through engine/customers/contacts.ts in steps, newest first. Its
// subject is the number of the newest contact not indexed yet: until then those are scanned.
export const contactsFolded: Migration = {
  version: 31,
  name: 'contacts-folded',
  sql: `
DROP TRIGGER contactInserted;
DROP TRIGGER contactRenamed;
DROP TABLE contactText;
DROP TABLE contactWord;

CREATE VIRTUAL TABLE contactPart USING fts5(text, content='', contentless_delete=1, tokenize='trigram case_sensitive 1');
CREATE VIRTUAL TABLE contactStart USING fts5(text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 categories 'L* N* M*'", prefix='1 2', detail='none');

CREATE TRIGGER contactAdded AFTER INSERT ON contact BEGIN
  INSERT INTO contactPart (rowid, text) VALUES (new.number, textOfContact(new.name, new.email, new.phone, new.company));
  INSERT INTO contactStart (rowid, text) VALUES (new.number, wordsOfContact(new.name, new.email, new.phone, new.company));
END;
CREATE TRIGGER contactRenamed AFTER UPDATE OF name, email, phone, company ON contact
  WHEN old.name IS NOT new.name OR old.email IS NOT new.email OR old.phone IS NOT new.phone OR old.company IS NOT new.company BEGIN
  INSERT OR REPLACE INTO contactPart (rowid, text) VALUES (new.number, textOfContact(new.name, new.email, new.phone, new.company));
  INSERT OR REPLACE INTO contactStart (rowid, text) VALUES (new.number, wordsOfContact(new.name, new.email, new.phone, new.company));
END;
CREATE TRIGGER contactRemoved AFTER DELETE ON contact BEGIN
  DELETE FROM contactPart WHERE rowid = old.number;
  DELETE FROM contactStart WHERE rowid = old.number;
END;

INSERT INTO deadline (kind, subjectId, dueAt) SELECT 'contacts.index', (SELECT max(number) FROM contact), createdAt FROM workspace WHERE EXISTS (SELECT 1 FROM contact);
`,
};
