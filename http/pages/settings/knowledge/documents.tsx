// The documents of the knowledge base: crawled pages, and the texts of published articles.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import type { Resource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { folded } from '../../folding.ts';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Article, KbDocument } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { countOf, sizeOf } from '../../times.ts';
import { More, OutLink, Part, Reading } from '../parts.tsx';

const pageSize = 50;

export interface DocumentList {
  readonly documents: readonly KbDocument[];
}

export function Documents({ list }: { readonly list: Resource<DocumentList> }): JSX.Element {
  const [words, setWords] = useState('');
  const [shown, setShown] = useState(pageSize);
  const [removing, setRemoving] = useState<KbDocument | undefined>(undefined);
  const documents = list.value?.documents;
  const wanted = folded(words).trim();
  const found = (documents ?? []).filter(({ title, sourceUrl }) =>
    folded(`${title} ${sourceUrl ?? ''}`).includes(wanted),
  );
  return (
    <Part id="documents" title={documents === undefined ? 'Documents' : `Documents (${countOf(documents.length)})`}>
      {documents === undefined ? (
        <Reading failure={list.failure} retry={list.reload} what="Knowledge bases" />
      ) : documents.length === 0 ? (
        <Empty icon="book" title="No documents yet">
          <p>Each page that is read becomes one.</p>
        </Empty>
      ) : (
        <>
          <TextField label="Find a document" type="search" value={words} onValue={setWords} />
          {found.length === 0 ? (
            <p class="soft" role="status">
              No document has that in its title or address.
            </p>
          ) : (
            <div class="table-frame">
              <table class="table stacks">
                <thead>
                  <tr>
                    <th scope="col">Title</th>
                    <th scope="col" class="number">
                      Size
                    </th>
                    <th scope="col">Read</th>
                    <th scope="col">
                      <span class="for-readers">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.slice(0, shown).map((document) => (
                    <Row key={document.id} document={document} onRemove={() => setRemoving(document)} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <More shown={found.length > shown} loading={false} onMore={() => setShown(shown + pageSize)} />
        </>
      )}
      {removing !== undefined && (
        <Confirm
          title="Delete this document?"
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/kb/documents/${removing.id}`);
            list.set({ documents: (list.value?.documents ?? []).filter(({ id }) => id !== removing.id) });
            notify({ kind: 'done', text: 'The document is deleted.' });
          }}
          onClose={() => setRemoving(undefined)}
        >
          <p>Answers no longer use “{removing.title}”. When its site is read again, it comes back.</p>
        </Confirm>
      )}
    </Part>
  );
}

function Row({ document, onRemove }: { readonly document: KbDocument; readonly onRemove: () => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const { title, sourceUrl, sourceType, fileName, articleId, byteSize, embeddingModel, ingestedAt } = document;
  const adopt = async (): Promise<void> => {
    setBusy(true);
    try {
      const article = await call<Article>('POST', `/kb/documents/${document.id}/adopt`);
      navigate(`/settings/knowledge/${article.id}`);
    } catch (error) {
      notifyFailure(error);
      setBusy(false);
    }
  };
  return (
    <tr>
      <td class="kb-title">
        <span>{title === '' ? 'Untitled' : title}</span>
        {sourceUrl !== null && (
          <small>
            <OutLink url={sourceUrl} />
          </small>
        )}
        {fileName !== null && fileName !== title && <small>{fileName}</small>}
        {embeddingModel === null && <Badge>Not searchable yet</Badge>}
      </td>
      <td class="number">{sizeOf(byteSize)}</td>
      <td>
        <Time at={ingestedAt} />
      </td>
      <td class="actions">
        {articleId !== null ? (
          <a
            href={`/settings/knowledge/${articleId}`}
            aria-label={`${sourceType === 'article' ? 'Article' : 'Its article'}: ${title}`}
          >
            {sourceType === 'article' ? 'Article' : 'Its article'}
          </a>
        ) : (
          hasRole('admin') && (
            <Button
              small
              kind="quiet"
              busy={busy}
              aria-label={`Create an article from ${title}`}
              onClick={() => void adopt()}
            >
              Create an article
            </Button>
          )
        )}
        {sourceType !== 'article' && hasRole('admin') && (
          <IconButton small icon="trash" label={`Delete ${title}`} onClick={onRemove} />
        )}
      </td>
    </tr>
  );
}
