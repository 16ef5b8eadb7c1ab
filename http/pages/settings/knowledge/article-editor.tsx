// Writing an article: Markdown beside its preview, saved as a draft or published. If someone else changed it meanwhile,
// both texts are shown, and the writer decides. What it does is in use-article.ts.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button, ButtonLink } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { Badge, Banner, Empty } from '../../design/feedback.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Form, type FormState } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { notifyFailure } from '../../notices.ts';
import type { Article } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { Reading } from '../parts.tsx';
import { Section } from '../section.tsx';
import { localeChoices } from '../workspace/locales.ts';
import { ArticleConflict } from './article-conflict.tsx';
import { Markdown } from './markdown.tsx';
import { type ArticleEditing, type ArticleText, articlesPath, useArticle } from './use-article.ts';

const back = { href: articlesPath, label: 'All articles' };

/** `articleId` is `new` for an article that was never saved. */
export function ArticlePage({ articleId }: { readonly articleId: string }): JSX.Element {
  const isNew = articleId === 'new';
  const { value, failure, reload } = useResource(
    (signal) => (isNew ? Promise.resolve(undefined) : call<Article>('GET', `/kb/articles/${articleId}`, { signal })),
    [articleId, isNew],
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

function Editor({ stored }: { readonly stored: Article | undefined }): JSX.Element {
  const editing = useArticle(stored);
  const { form, base, conflict, isEdited } = editing;
  const [removing, setRemoving] = useState(false);
  const [preview, setPreview] = useState<string | undefined>(undefined);
  const makePreview = ({ id }: Article): Promise<void> =>
    call<{ url: string }>('POST', `/kb/articles/${id}/preview`).then(({ url }) => setPreview(url), notifyFailure);
  return (
    <Section
      title={base === undefined ? 'Write an article' : base.title}
      back={back}
      actions={base !== undefined && <State article={base} changed={isEdited} />}
    >
      {editing.hasOldDraft && (
        <Banner
          kind="warn"
          action={
            <Button small onClick={editing.restore}>
              Restore them
            </Button>
          }
        >
          You have unsaved changes from before.
        </Banner>
      )}
      {conflict !== undefined && (
        <ArticleConflict
          key={conflict.version}
          mine={form.values}
          theirs={conflict}
          onMine={editing.keepMine}
          onTheirs={() => editing.takeTheirs(conflict)}
        />
      )}
      <div class="card">
        <Form
          form={form}
          label="Article"
          actions={
            <>
              <SaveButtons editing={editing} />
              {base === undefined ? (
                <ButtonLink kind="quiet" href={back.href}>
                  Cancel
                </ButtonLink>
              ) : (
                <>
                  <Button kind="quiet" disabled={isEdited} onClick={() => void makePreview(base)}>
                    Preview link
                  </Button>
                  <Button kind="danger" onClick={() => setRemoving(true)}>
                    Delete
                  </Button>
                </>
              )}
            </>
          }
        >
          <Fields form={form} />
        </Form>
      </div>
      {preview !== undefined && (
        <Dialog title="Preview link" onClose={() => setPreview(undefined)}>
          <p>Anyone with this link can read the article as it is saved, for seven days, published or not.</p>
          <Copyable text={preview} label="the link" />
          <p>
            <a href={preview} target="_blank" rel="noreferrer">
              Open it
            </a>
          </p>
        </Dialog>
      )}
      {removing && base !== undefined && (
        <Confirm
          title="Delete this article?"
          action="Delete"
          onConfirm={() => editing.remove(base)}
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

function Fields({ form }: { readonly form: FormState<ArticleText> }): JSX.Element {
  const { title, body, collection, language, slug } = form.values;
  return (
    <>
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
            {body.trim() === '' ? <p class="soft">A preview of your text appears here.</p> : <Markdown text={body} />}
          </div>
        </div>
      </div>
      <div role="group" aria-labelledby="in-help" class="stack">
        <h2 class="label" id="in-help">
          In the help centre
        </h2>
        <div class="columns">
          <TextField
            label="Collection"
            optional
            maxLength={120}
            value={collection}
            onValue={(next) => form.set('collection', next)}
            error={form.errorOf('collection')}
            hint="Articles of one collection stand together, such as Delivery."
          />
          <SelectField
            label="Language"
            value={language}
            choices={[{ value: '', label: 'The workspace’s' }, ...localeChoices(language || 'en')]}
            onValue={(next) => form.set('language', next)}
            error={form.errorOf('language')}
          />
          <TextField
            label="Address"
            optional
            maxLength={100}
            value={slug}
            onValue={(next) => form.set('slug', next)}
            error={form.errorOf('slug')}
            hint="Such as opening-hours. A translation has the same one in another language. Left empty: from the title."
          />
        </div>
      </div>
    </>
  );
}

/** Enter presses the first one, so that nothing is published by accident. */
function SaveButtons({ editing: { form, base, wanted } }: { readonly editing: ArticleEditing }): JSX.Element {
  return base?.status === 'published' ? (
    <>
      <SaveButton form={form} wanted={wanted} as="published" label="Save" primary />
      <SaveButton form={form} wanted={wanted} as="draft" label="Unpublish" />
    </>
  ) : (
    <>
      <SaveButton form={form} wanted={wanted} as="draft" label="Save as draft" />
      <SaveButton form={form} wanted={wanted} as="published" label="Publish" primary />
    </>
  );
}

function SaveButton({
  form,
  wanted,
  as,
  label,
  primary = false,
}: {
  readonly form: FormState<ArticleText>;
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
      {article.helpfulCount + article.unhelpfulCount > 0 && (
        <span class="soft">
          Helped {article.helpfulCount} of {article.helpfulCount + article.unhelpfulCount} readers
        </span>
      )}
      <span class="soft">
        Changed <Time at={article.updatedAt} format={timeInSentence} />
      </span>
    </>
  );
}
