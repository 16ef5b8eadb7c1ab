import type { Migration } from '../../database.ts';

// The preview of a chat whose newest message came by mail is not for a browser that only claimed the address.
export const mailPreviews: Migration = {
  version: 51,
  name: 'mail-previews',
  sql: 'ALTER TABLE conversation ADD COLUMN mailPreview TEXT;',
};
