// Someone else saved an article while it was edited here: the differences line by line, and the two ways on.

import { diffLines } from 'diff';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import type { Article } from '../../records.ts';

interface ArticleConflictProps {
  readonly mine: { readonly title: string; readonly body: string };
  readonly theirs: Article;
  readonly onMine: () => Promise<void>;
  readonly onTheirs: () => void;
}

/** Comparing gives up after 500 ms, and both texts are shown whole. */
const timeoutMs = 500;

/** One per saved version: give it the version as key. */
export function ArticleConflict({ mine, theirs, onMine, onTheirs }: ArticleConflictProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, []);
  const keep = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await onMine();
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  const parts = diffLines(theirs.body, mine.body, { timeout: timeoutMs }) ?? [
    { value: theirs.body, removed: true, added: false },
    { value: mine.body, added: true, removed: false },
  ];
  return (
    <section class="card" aria-labelledby="conflict">
      <h2 id="conflict" tabIndex={-1} ref={heading}>
        Someone else has saved this article since you opened it
      </h2>
      <p class="soft">
        Your changes are not lost. Lines with − are only in the saved article, lines with + only in yours.
      </p>
      {theirs.title !== mine.title && (
        <p>
          Its title is “{theirs.title}” now; yours is “{mine.title}”.
        </p>
      )}
      <div class="kb-diff" role="region" aria-label="Differences" tabIndex={0}>
        {parts.map(({ value, added, removed }, index) => (
          <div key={index} class={added ? 'added' : removed ? 'removed' : 'same'}>
            {(added || removed) && (
              <span class="for-readers">{added ? 'Only in yours: ' : 'Only in the saved one: '}</span>
            )}
            {shorten(value, added || removed).map((line, at) => (
              <span key={at}>
                <span aria-hidden="true">{added ? '+ ' : removed ? '− ' : '  '}</span>
                {line}
                {'\n'}
              </span>
            ))}
          </div>
        ))}
      </div>
      <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
      <div class="row">
        <Button kind="primary" busy={busy} onClick={() => void keep()}>
          Save mine over it
        </Button>
        <Button disabled={busy} onClick={onTheirs}>
          Discard mine and use the saved one
        </Button>
      </div>
    </section>
  );
}

/** Of equal lines, only the two next to a difference are shown. */
function shorten(text: string, whole: boolean): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return whole || lines.length <= 6 ? lines : [...lines.slice(0, 2), '…', ...lines.slice(-2)];
}
