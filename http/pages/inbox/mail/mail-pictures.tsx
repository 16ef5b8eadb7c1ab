// The pictures of a mail that are on other servers. None is loaded until the agent asks; then the service fetches them,
// so that no other server learns who reads the mail.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Failure } from '../../design/feedback.tsx';
import { Icon } from '../../design/icon.tsx';
import type { Message } from '../../records.ts';
import { FormattedMail } from '../message-text.tsx';

/** As many as the service fetches at once for a workspace. */
const atOnce = 3;
/** The service itself gives up after 15 seconds, and a picture may wait there behind two others. */
const timeoutMs = 50_000;
/** While the service fetches others: for about a minute. */
const maxTries = 20;
const pauseMs = 3000;

export function WithPictures({
  message,
  children,
}: {
  readonly message: Message;
  /** The mail without them. */
  readonly children: JSX.Element;
}): JSX.Element {
  const [html, setHtml] = useState<string | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [isAsking, setAsking] = useState(false);
  const path = `/conversations/${message.conversationId}/messages/${message.id}/pictures`;
  const filling = useRef<Filling | undefined>(undefined);
  useEffect(() => () => filling.current?.stop(), []);
  const fill = useRef((places: readonly HTMLImageElement[]): void => {
    filling.current?.stop();
    filling.current = fillIn(path, places);
  });
  if (html !== undefined) return <FormattedMail html={html} pictures={fill.current} />;
  const show = (): void => {
    setAsking(true);
    setFailure(undefined);
    call<{ bodyHtml: string }>('GET', path)
      .then(({ bodyHtml }) => setHtml(bodyHtml), setFailure)
      .finally(() => setAsking(false));
  };
  const count = message.mail?.remotePictures ?? 0;
  return (
    <>
      <p class="mail-blocked">
        <Icon name="eye" size={16} />
        <span>{count === 1 ? 'A picture is not shown.' : `${count} pictures are not shown.`}</span>
        <Button small onClick={show} busy={isAsking} title="The sender does not learn that you looked.">
          {count === 1 ? 'Show it' : 'Show them'}
        </Button>
      </p>
      {failure !== undefined && <Failure error={failure} retry={show} />}
      {children}
    </>
  );
}

const numberOf = ({ dataset }: HTMLImageElement): string => dataset['picture'] ?? '';

interface Filling {
  stop(): void;
}

/** An image without a source shows nothing, not even its alternative text. */
function wordsFor({ alt, ownerDocument }: HTMLImageElement): HTMLElement {
  const words = ownerDocument.createElement('small');
  words.textContent = alt === '' ? '(picture not available)' : `(${alt})`;
  return words;
}

const isBusy = (error: unknown): boolean => error instanceof ApiError && [429, 503].includes(error.status);

/** Some at a time. One that the service has no place for is tried again after the others. */
function fillIn(path: string, places: readonly HTMLImageElement[]): Filling {
  const abort = new AbortController();
  const numbers = [...new Set(places.map(numberOf))];
  const made: string[] = [];
  const tries = new Map<string, number>();
  const next = async (): Promise<void> => {
    for (let number = numbers.shift(); number !== undefined && !abort.signal.aborted; number = numbers.shift()) {
      const images = places.filter((place) => numberOf(place) === number);
      try {
        const file = await call<Blob>('GET', `${path}/${number}`, { asFile: true, timeoutMs, signal: abort.signal });
        const url = URL.createObjectURL(file);
        made.push(url);
        for (const image of images) image.src = url;
      } catch (error) {
        const tried = (tries.get(number) ?? 0) + 1;
        tries.set(number, tried);
        if (isBusy(error) && tried < maxTries) {
          numbers.push(number);
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        } else for (const image of images) image.replaceWith(wordsFor(image));
      }
    }
  };
  for (let count = 0; count < atOnce; count += 1) void next();
  return {
    stop() {
      abort.abort();
      for (const url of made) URL.revokeObjectURL(url);
    },
  };
}
