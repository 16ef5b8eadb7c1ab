// Edits an article: Markdown beside its preview, saved as a draft or published. If another person changed it meanwhile,
// both texts are shown and the writer decides.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button, ButtonLink } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Banner, Empty } from '../../design/feedback.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Form, type FormState, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { navigate } from '../../location.ts';
import { notify } from '../../notices.ts';
import type { Article } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { Reading } from '../parts.tsx';
import { Section } from '../section.tsx';
import { ArticleConflict } from './article-conflict.tsx';
import { type ArticleDraft, draftOf, forgetDraft, isChanged, keepDraft } from './article-drafts.ts';
import { Markdown } from './markdown.tsx';

const back = { href: '/settings/knowledge?tab=articles', label: 'All articles' };

/** `articleId` is `new` for a new article. */
export function ArticlePage({ articleId }: { readonly articleId: string }): JSX.Element {
  const isNew = articleId === 'new';
  const { value, failure, reload } = useResource(
    (signal) => (isNew ? Promise.resolve(undefined) : call<Article>('GET', `/kb/articles/${articleId}`, { signal })),
    [articleId],
  );
  if (isNew) return <Editor key="new" stored={undefined} />;
  if (value !== undefined) return <Editor key={value.id} stored={value} />;
  return (
    <Section title="Article" back={back}>
      {failure instanceof ApiError && failure.status === 404 ? (
        <Empty icon="note" title="This article does not exist">
          <p>Someone may have deleted it.</p>
        </Empty>
      ) : (
        <Reading failure={failure} retry={reload} />
      )}
    </Section>
  );
}

interface Values {
  readonly title: string;
  readonly body: string;
}

function Editor({ stored }: { readonly stored: Article | undefined }): JSX.Element {
  const key = stored?.id ?? 'new';
  const [start] = useState<ArticleDraft>(
    () => draftOf(key) ?? { title: stored?.title ?? '', body: stored?.body ?? '', base: stored },
  );
  const [base, setBase] = useState(start.base);
  /** The status that the pressed button saves: a ref, since it is read before the next render. */
  const wanted = useRef<Article['status']>(start.base?.status ?? 'draft');
  const [conflict, setConflict] = useState<Article | undefined>(undefined);
  const [removing, setRemoving] = useState(false);

  const taken = (article: Article): void => {
    forgetDraft(key);
    setConflict(undefined);
    setBase(article);
    form.reset({ title: article.title, body: article.body });
    notify({
      kind: 'done',
      text: article.status === 'published' ? 'Published. Answers can use it.' : 'Saved as a draft.',
    });
    if (base === undefined) navigate(`/settings/knowledge/${article.id}`, { replace: true });
  };
  const save = async ({ title, body }: Values, over: Article | undefined, status: Article['status']): Promise<void> => {
    try {
      taken(
        over === undefined
          ? await call<Article>('POST', '/kb/articles', { body: { title, body, status } })
          : await call<Article>('PATCH', `/kb/articles/${over.id}`, {
              body: { expectedVersion: over.version, title, body, status },
            }),
      );
    } catch (error) {
      if (over === undefined || !(error instanceof ApiError) || error.slug !== 'stale_version') throw error;
      setConflict(await call<Article>('GET', `/kb/articles/${over.id}`));
    }
  };
  const form = useForm<Values>({ title: start.title, body: start.body }, (values) =>
    save(values, base, wanted.current),
  );
  const { title, body } = form.values;
  const changed = isChanged({ title, body, base });
  useEffect(() => keepDraft(key, { title, body, base }), [title, body, base]);

  const isPublished = base?.status === 'published';
  return (
    <Section
      title={base === undefined ? 'Write an article' : base.title}
      back={back}
      actions={base !== undefined && <State article={base} changed={changed} />}
    >
      {draftOf(key) !== undefined && start.base !== undefined && isChanged(start) && changed && (
        <Banner
          kind="warn"
          action={
            <Button small onClick={() => form.reset({ title: base?.title ?? '', body: base?.body ?? '' })}>
              Restore them
            </Button>
          }
        >
          You have unsaved changes from before.
        </Banner>
      )}
      {conflict !== undefined && (
        <ArticleConflict
          mine={{ title, body }}
          theirs={conflict}
          onMine={() => save({ title, body }, conflict, wanted.current)}
          onTheirs={() => {
            forgetDraft(key);
            setBase(conflict);
            setConflict(undefined);
            form.reset({ title: conflict.title, body: conflict.body });
          }}
        />
      )}
      <div class="card">
        <Form
          form={form}
          label="Article"
          actions={
            <>
              {isPublished ? (
                <>
                  <SaveButton form={form} wanted={wanted} as="published" label="Save" primary />
                  <SaveButton form={form} wanted={wanted} as="draft" label="Unpublish" />
                </>
              ) : (
                <>
                  <SaveButton form={form} wanted={wanted} as="draft" label="Save as draft" />
                  <SaveButton form={form} wanted={wanted} as="published" label="Publish" primary />
                </>
              )}
              {base === undefined ? (
                <ButtonLink kind="quiet" href={back.href}>
                  Cancel
                </ButtonLink>
              ) : (
                <Button kind="danger" onClick={() => setRemoving(true)}>
                  Delete
                </Button>
              )}
            </>
          }
        >
          <TextField
            label="Title"
            maxLength={300}
            value={title}
            onValue={(next) => form.set('title', next)}
            error={form.errorOf('title')}
          />
          <div class="kb-editor">
            <TextArea
              label="Text, in Markdown"
              class="input kb-text"
              rows={20}
              maxLength={200_000}
              value={body}
              onValue={(next) => form.set('body', next)}
              error={form.errorOf('body')}
              hint="# heading, **strong**, *emphasis*, - list, [a link](https://…)"
            />
            <div class="field">
              <h2 class="label" id="preview">
                Preview
              </h2>
              <div class="kb-preview" role="region" aria-labelledby="preview" tabIndex={0}>
                {body.trim() === '' ? (
                  <p class="soft">A preview of your text appears here.</p>
                ) : (
                  <Markdown text={body} />
                )}
              </div>
            </div>
          </div>
        </Form>
      </div>
      {removing && base !== undefined && (
        <Confirm
          title="Delete this article?"
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/kb/articles/${base.id}`);
            forgetDraft(key);
            notify({ kind: 'done', text: 'The article is deleted.' });
            navigate(back.href, { replace: true });
          }}
          onClose={() => setRemoving(false)}
        >
          <p>
            Its text cannot be restored.
            {base.sourceDocumentId !== null && ' Answers will use the page it was made from again.'}
          </p>
        </Confirm>
      )}
    </Section>
  );
}

/** Enter presses the first button, so that nothing is published by accident. */
function SaveButton({
  form,
  wanted,
  as,
  label,
  primary = false,
}: {
  readonly form: FormState<Values>;
  readonly wanted: { current: Article['status'] };
  readonly as: Article['status'];
  readonly label: string;
  readonly primary?: boolean;
}): JSX.Element {
  return (
    <Button
      type="submit"
      kind={primary ? 'primary' : 'plain'}
      busy={form.busy && wanted.current === as}
      disabled={form.busy}
      onClick={() => {
        wanted.current = as;
      }}
    >
      {label}
    </Button>
  );
}

function State({ article, changed }: { readonly article: Article; readonly changed: boolean }): JSX.Element {
  return (
    <>
      {changed && <Badge kind="warn">Not saved</Badge>}
      <Badge kind={article.status === 'published' ? 'good' : undefined}>
        {article.status === 'published' ? 'Published' : 'Draft'}
      </Badge>
      <span class="soft">
        Changed <Time at={article.updatedAt} format={timeInSentence} />
      </span>
    </>
  );
}
