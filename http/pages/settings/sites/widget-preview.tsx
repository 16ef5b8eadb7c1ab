// A preview of the widget with the unsaved values: the same sizes, colours and texts as on a customer's page. Only a
// picture: nothing in it works.

import type { JSX } from 'preact';
import { ownAddress } from '../../addresses.ts';
import { inkOn, isHex } from './colour.ts';

interface WidgetPreviewProps {
  readonly name: string;
  readonly colour: string;
  readonly position: 'left' | 'right';
  readonly welcome: string;
  /** The site's own, while someone is there; empty for the widget's. */
  readonly sentence: string;
  readonly logo: string | null;
}

const fallback = '#2563eb';

export function WidgetPreview({ name, colour, position, welcome, sentence, logo }: WidgetPreviewProps): JSX.Element {
  const primary = isHex(colour) ? colour : fallback;
  return (
    <div
      class={`widget-preview ${position}`}
      style={{ '--primary': primary, '--on-primary': inkOn(primary) }}
      role="img"
      aria-label={`The widget of ${name} as customers will see it, at the ${position}${welcome.trim() === '' ? '' : `, with the welcome “${welcome}”`}.`}
    >
      <div class="preview-panel">
        <div class="preview-head">
          {logo !== null && <img src={ownAddress(logo)} alt="" width={36} height={36} />}
          <div>
            <p class="preview-name">{name}</p>
            <p>{sentence.trim() === '' ? 'We are here to help.' : sentence}</p>
          </div>
          <Shape of="close" />
        </div>
        <div class="preview-lines">
          {welcome.trim() !== '' && <p class="preview-theirs">{welcome}</p>}
          <p class="preview-mine">Do you ship abroad?</p>
          <p class="preview-state">Sent</p>
        </div>
        <div class="preview-composer">
          <span>Write a message…</span>
          <i>
            <Shape of="send" />
          </i>
        </div>
      </div>
      <div class="preview-launcher">
        <Shape of="close" />
      </div>
    </div>
  );
}

/** The widget's own sizes. */
const shapes = {
  close: 'M6.4 5 5 6.4 10.6 12 5 17.6 6.4 19 12 13.4 17.6 19 19 17.6 13.4 12 19 6.4 17.6 5 12 10.6Z',
  send: 'M3.4 20.4 21 12.7a.8.8 0 0 0 0-1.4L3.4 3.6a.6.6 0 0 0-.8.7L4.6 10.7 14 12l-9.4 1.3-2 6.4a.6.6 0 0 0 .8.7Z',
};

function Shape({ of }: { readonly of: keyof typeof shapes }): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" fill="currentColor" aria-hidden="true">
      <path d={shapes[of]} />
    </svg>
  );
}
