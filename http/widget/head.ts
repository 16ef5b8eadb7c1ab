// The panel's header: the name, whether someone is there, and buttons for earlier chats, sound and closing.

import { button, h, icon, setText } from './dom.ts';
import { pictureOf } from './faces.ts';
import { apart } from './message-list.ts';
import type { Availability, Face, Session } from './protocol.ts';
import type { Sound } from './sound.ts';
import { fill, type Wording } from './strings.ts';

export interface HeadOptions {
  readonly siteName: string;
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
  readonly #state = h('p');
  readonly #picture = h('span', { hidden: true });
  #shown: string | null | undefined;

  constructor(options: HeadOptions) {
    this.#options = options;
    const { siteName, wording, sound } = options;
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
      this.#picture,
      h('div', {}, h('h2', {}, h('bdi', {}, siteName)), this.#state),
      this.#history,
      this.#sound,
      button({ class: 'plain', 'aria-label': strings.close }, icon('close'), () => options.close()),
    );
  }

  /** Whether someone is there, and who answers; until then the site's logo. */
  show(session: Session, face: Face | undefined): void {
    const sentence = sentenceOf(session, this.#options.wording);
    setText(this.#state, face === undefined ? sentence : `${apart(face.name)} · ${sentence}`);
    const avatarUrl = face === undefined ? (session.site.logoUrl ?? null) : face.avatarUrl;
    if (avatarUrl === this.#shown) return;
    this.#shown = avatarUrl;
    const picture = pictureOf({ avatarUrl });
    this.#picture.hidden = picture === undefined;
    this.#picture.className = face === undefined ? 'logo' : '';
    this.#picture.replaceChildren(...(picture === undefined ? [] : [picture]));
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
export function stateOf({
  officeHoursOpen,
  availability = officeHoursOpen ? 'online' : 'closed',
  nextOpenAt,
  clockAheadMs,
}: Session): Availability['availability'] {
  const hasBegun = typeof nextOpenAt === 'string' && Date.parse(nextOpenAt) <= nowAtService(clockAheadMs);
  return availability === 'closed' && hasBegun ? 'online' : availability;
}

/** The site's own words, if it has some. */
function sentenceOf(session: Session, wording: Wording): string {
  const { site, replyTimeSeconds } = session;
  const { strings, locale } = wording;
  switch (stateOf(session)) {
    case 'online':
      if (site.onlineMessage) return site.onlineMessage;
      return typeof replyTimeSeconds === 'number'
        ? fill(strings.replyTime, { time: durationIn(locale, replyTimeSeconds) })
        : strings.online;
    case 'away':
      return site.awayMessage || strings.away;
    case 'closed':
      return site.closedMessage || awayText(session, wording);
  }
}

function durationIn(locale: string, seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const hours = Math.round(minutes / 60);
  const [value, unit] =
    minutes < 60 ? [minutes, 'minute'] : hours < 48 ? [hours, 'hour'] : [Math.round(hours / 24), 'day'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
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
    isNear ? { weekday: 'long', hour: 'numeric', minute: '2-digit' } : { day: 'numeric', month: 'long' },
  ).format(at);
  return fill(strings.awayUntil, { when });
}
