// Small parts shared by several sections.

import type { ComponentChildren, JSX } from 'preact';
import { webUrl } from '../addresses.ts';
import { Button } from '../design/button.tsx';
import { Failure, Loading } from '../design/feedback.tsx';
import type { PagedList } from '../design/paged.ts';

/** A part of a section: heading, content and actions. */
export function Part({
  id,
  title,
  intro,
  actions,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {intro !== undefined && <p class="soft">{intro}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A link to another site, or plain text if it is not a web address. */
export function OutLink({
  url,
  children,
}: {
  readonly url: string | null;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const href = webUrl(url);
  if (href === undefined) return <span>{children ?? url}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? url}
    </a>
  );
}

/** A placeholder while something loads, and the message if it failed or is not in the plan. */
export function Reading({
  failure,
  retry,
  lines,
  what,
}: {
  readonly failure: unknown;
  readonly retry: () => void;
  readonly lines?: number | undefined;
  readonly what?: string | undefined;
}): JSX.Element {
  if (failure !== undefined) return <Failure error={failure} retry={retry} what={what} />;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
}

interface PagesProps<Row> {
  readonly of: PagedList<Row>;
  /** The number of lines of the placeholder. */
  readonly lines?: number;
  /** Shown if the list is empty. */
  readonly empty: JSX.Element;
  readonly children: (rows: readonly Row[]) => JSX.Element;
}

/** A list loaded page by page: its rows, a button for more, and the message if there are none. */
export function Pages<Row>({ of: list, lines, empty, children }: PagesProps<Row>): JSX.Element {
  const { rows, failure, hasMore, loading } = list;
  if (rows === undefined) return <Reading failure={failure} retry={list.retry} lines={lines} />;
  return (
    <>
      {rows.length === 0 ? empty : children(rows)}
      {failure === undefined ? (
        <More shown={hasMore} loading={loading} onMore={list.more} />
      ) : (
        <Failure error={failure} retry={list.retry} />
      )}
    </>
  );
}

export function More({
  shown,
  loading,
  onMore,
}: {
  readonly shown: boolean;
  readonly loading: boolean;
  readonly onMore: () => void;
}): JSX.Element | null {
  if (!shown) return null;
  return (
    <div class="row">
      <Button busy={loading} onClick={onMore}>
        Show more
      </Button>
    </div>
  );
}
