import type { Migration } from '../../database.ts';

// A message made from mail, or sent as one, keeps its sender, its other recipients and its authentication; a ticket
// keeps who gets copies of its answers; a mail keeps its reply address. For earlier mails the authentication is known,
// but not the copies.
export const mailOnMessages: Migration = {
  version: 38,
  name: 'mail-on-messages',
  sql: `
ALTER TABLE message ADD COLUMN mail TEXT;
ALTER TABLE conversation ADD COLUMN copiedTo TEXT NOT NULL DEFAULT '[]';
ALTER TABLE mail ADD COLUMN replyTo TEXT COLLATE NOCASE;

UPDATE message SET mail = (
    SELECT json_object('from', json_object('address', fromAddress, 'name', fromName), 'copiedTo', json('[]'), 'authentication', json(coalesce(mail.authentication, 'null')))
    FROM mail WHERE mail.messageId = message.id AND direction = 'in' LIMIT 1)
  WHERE id IN (SELECT messageId FROM mail WHERE direction = 'in' AND messageId IS NOT NULL AND fromAddress <> '');
`,
};
