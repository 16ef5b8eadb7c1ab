// What may stand in a name or a subject: one line, in which something can be seen, and nothing that would turn what
// stands beside it into something else: no line ends, no control characters, no signs that reverse the direction of a
// text. Pure functions of their input, and the patterns that schemas hold requests against.

import { firstChars } from './text.ts';

const nul = '\\u0000';
/** C0, C1, line and paragraph separators. */
const otherControls = '\\u0001-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const controls = `${nul}${otherControls}`;
/**
 * They set the direction of all that follows, or begin and end a piece with one of its own. Marks of a single place
 * (U+200E, U+200F) may stay.
 */
const directions = '\\u202a-\\u202e\\u2066-\\u2069';
/** What shows nothing: white space, fillers, joiners, selectors, tags. */
const otherInvisible = `\\s${otherControls}${directions}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb`;
const invisible = `${nul}${otherInvisible}`;

/** Of a text in which something can be seen. */
export const visiblePattern = `[^${invisible}]`;
/**
 * Of such a text without NUL, at which half of what reads texts ends them. Linear: only the first sign that is seen
 * fits its middle.
 */
export const textPattern = `^[${otherInvisible}]*[^${invisible}][^${nul}]*$`;
/** Of such a text on one line. */
export const linePattern = `^[^${controls}${directions}]*[^${invisible}][^${controls}${directions}]*$`;
/** Of a saved reply's shortcut: a slash, and then a word. */
export const shortcutPattern = `^/[^\\s/${controls}${directions}]*[^/${invisible}][^\\s/${controls}${directions}]*$`;

/** Of a name within a mail; longer ones are stories. */
const maxNameChars = 60;

const visible = new RegExp(visiblePattern, 'u');
const allControls = new RegExp(`[${controls}]+`, 'gu');
const allDirections = new RegExp(`[${directions}]+`, 'gu');
/** What is taken off the ends; joiners and selectors belong to the sign before them. */
const empty = new Set([' ', '\u00ad', '\u200b', '\u2060', '\ufeff']);

/** True when there is nothing to be seen. */
export function isBlank(text: string): boolean {
  return !visible.test(text);
}

/**
 * The text on one line, without white space around it or twice within it, its accents written in one way (NFC). What
 * ended a line becomes a space.
 */
export function oneLine(text: string): string {
  const line = text.replace(allDirections, '').replace(allControls, ' ').replace(/\s+/gu, ' ');
  let [start, end] = [0, line.length];
  while (start < end && empty.has(line.charAt(start))) start += 1;
  while (end > start && empty.has(line.charAt(end - 1))) end -= 1;
  return line.slice(start, end).normalize('NFC');
}

/** What a mail program makes a link of by itself: a scheme, an @, a dot before letters. */
const linkish = /:\/\/|[@＠]|[.。．｡](?=\p{L}{2})/u;

/**
 * A name of somebody's choosing, for a text that speaks for the service: one line, so many characters, and nothing in
 * it that becomes a link.
 */
export function plainName(name: string, maxChars = maxNameChars): string {
  const words = oneLine(name)
    .split(' ')
    .map((word) => (linkish.test(word) ? word.replace(/:\/+/gu, ': ').replace(/([@＠.。．｡/])(?=\S)/gu, '$1 ') : word));
  const line = words.join(' ');
  const short = firstChars(line, maxChars);
  return short.length < line.length ? `${short.trimEnd()}…` : line;
}

/** The name beside an address that a mail comes from, which is no address itself. */
export function mailboxName(name: string): string {
  return firstChars(oneLine(name.replace(/[@＠]/gu, ' at ')), maxNameChars);
}
