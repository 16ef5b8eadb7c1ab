// Documents of the knowledge base: listed and deleted. Specification 4.3.

import { findKbDocument, type KbDocumentRow, listedKbDocuments } from '../../store/knowledge/documents.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { removeDocuments, touchBase } from './knowledge.ts';

/** Newest first, all of them. */
export function listDocuments(view: View): KbDocumentRow[] {
  return listedKbDocuments(view.db);
}

/** With its chunks. Refuses admin_required, not_found, conflict for the text of a published article. */
export const removeDocument = command('kb.deleteDocument', (ctx, params: { documentId: string }): void => {
  requireAdmin(ctx);
  const document = findKbDocument(ctx.db, params.documentId);
  if (document === undefined || document.state === 'staged' || document.state === 'removed') refuse('not_found');
  if (document.sourceType === 'article')
    refuse('conflict', {
      message: 'This is the text of a published article. Unpublish or delete the article instead.',
    });
  removeDocuments(ctx, [document.id]);
  touchBase(ctx);
});
