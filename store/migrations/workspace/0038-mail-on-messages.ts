import type { Migration } from '../../database.ts';

// A message made from mail, or sent as one, keeps who the mail says it is from, who else it went to and what proves it;
// a ticket whom its answers are copied to; a mail where it wants to be answered. Of earlier mails is known what proved
// them, and not who was copied.
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
