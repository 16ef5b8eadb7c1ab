// The pictures of a mail that are on other servers. None is loaded until the agent asks; then the service fetches them,
// so that no other server learns who reads the mail.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Failure } from '../../design/feedback.tsx';
import { Icon } from '../../design/icon.tsx';
import type { Message } from '../../records.ts';
import { FormattedMail } from '../message-text.tsx';

const atOnce = 4;
/** The service itself gives up after 15 seconds. */
const timeoutMs = 25_000;

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

/** Some at a time. */
function fillIn(path: string, places: readonly HTMLImageElement[]): Filling {
  const abort = new AbortController();
  const numbers = [...new Set(places.map(numberOf))];
  const made: string[] = [];
  const next = async (): Promise<void> => {
    for (let number = numbers.shift(); number !== undefined && !abort.signal.aborted; number = numbers.shift()) {
      const images = places.filter((place) => numberOf(place) === number);
      try {
        const file = await call<Blob>('GET', `${path}/${number}`, { asFile: true, timeoutMs, signal: abort.signal });
        const url = URL.createObjectURL(file);
        made.push(url);
        for (const image of images) image.src = url;
      } catch {
        for (const image of images) image.replaceWith(wordsFor(image));
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
