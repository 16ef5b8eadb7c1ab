// The panel's header: the name, whether agents are available, and buttons for earlier chats, sound and closing.

import { button, h, icon } from './dom.ts';
import type { Session } from './protocol.ts';
import type { Sound } from './sound.ts';
import { fill, type Wording } from './strings.ts';

export interface HeadOptions {
  readonly session: Session;
  readonly wording: Wording;
  readonly sound: Sound;
  lookBack(): unknown;
  close(): void;
}

const dayMs = 24 * 3600_000;
/** Within this time, the weekday is enough to name the day. */
const nearMs = 6 * dayMs;

export class Head {
  readonly element: HTMLElement;
  readonly #options: HeadOptions;
  readonly #history: HTMLButtonElement;
  readonly #sound: HTMLButtonElement;

  constructor(options: HeadOptions) {
    this.#options = options;
    const { session, wording, sound } = options;
    const { strings } = wording;
    this.#history = button({ class: 'plain' }, icon('history'), () => options.lookBack());
    this.#sound = button({ class: 'plain' }, undefined, () => {
      sound.toggle();
      this.#showSound();
    });
    this.#showSound();
    this.showHistory(false);
    this.element = h(
      'div',
      { class: 'head' },
      h(
        'div',
        {},
        h('h2', {}, h('bdi', {}, session.site.name)),
        h('p', {}, isOpenNow(session) ? strings.online : awayText(session, wording)),
      ),
      this.#history,
      this.#sound,
      button({ class: 'plain', 'aria-label': strings.close }, icon('close'), () => options.close()),
    );
  }

  /** Whether earlier chats are shown. */
  showHistory(isShown: boolean): void {
    const { strings } = this.#options.wording;
    this.#history.setAttribute('aria-label', isShown ? strings.back : strings.history);
    this.#history.setAttribute('aria-pressed', String(isShown));
  }

  #showSound(): void {
    const { wording, sound } = this.#options;
    this.#sound.replaceChildren(icon(sound.isOn ? 'soundOn' : 'soundOff'));
    this.#sound.setAttribute('aria-label', sound.isOn ? wording.strings.soundOn : wording.strings.soundOff);
    this.#sound.setAttribute('aria-pressed', String(sound.isOn));
  }
}

/** A session spans pages, and business hours may have begun since it was opened. */
export function isOpenNow({ officeHoursOpen, nextOpenAt, clockAheadMs }: Session): boolean {
  return officeHoursOpen || (typeof nextOpenAt === 'string' && Date.parse(nextOpenAt) <= nowAtService(clockAheadMs));
}

/** The service's time, even if the browser's clock is wrong. */
function nowAtService(clockAheadMs = 0): number {
  return Date.now() - clockAheadMs;
}

function awayText({ nextOpenAt, clockAheadMs }: Session, { strings, locale }: Wording): string {
  // A session stored by an earlier version does not have it.
  if (typeof nextOpenAt !== 'string') return strings.away;
  const at = new Date(nextOpenAt);
  const isNear = at.getTime() - nowAtService(clockAheadMs) < nearMs;
  const when = new Intl.DateTimeFormat(
    locale,
    isNear ? { weekday: 'long', hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'long' },
  ).format(at);
  return fill(strings.awayUntil, { when });
}
