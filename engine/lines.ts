// Rules for names and subjects: one line with something visible in it, and nothing that would alter the text beside it,
// such as line ends, control characters or direction overrides. Pure functions, and the patterns that schemas use.

import { firstChars } from './text.ts';

const nul = '\\u0000';
/** C0, C1, line and paragraph separators. */
const otherControls = '\\u0001-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const controls = `${nul}${otherControls}`;
/**
 * Characters that change the direction of following text. Marks that affect only their own position (U+200E, U+200F)
 * are allowed.
 */
const directions = '\\u202a-\\u202e\\u2066-\\u2069';
/** Invisible characters: white space, fillers, joiners, selectors, tags. */
const otherInvisible = `\\s${otherControls}${directions}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb`;
const invisible = `${nul}${otherInvisible}`;

/** A text with something visible. */
export const visiblePattern = `[^${invisible}]`;
/**
 * The same without NUL, where many programs end a text. Linear: only the first visible character matches the middle.
 */
export const textPattern = `^[${otherInvisible}]*[^${invisible}][^${nul}]*$`;
/** The same on one line. */
export const linePattern = `^[^${controls}${directions}]*[^${invisible}][^${controls}${directions}]*$`;
/** A saved reply's shortcut: a slash followed by a word. */
export const shortcutPattern = `^/[^\\s/${controls}${directions}]*[^/${invisible}][^\\s/${controls}${directions}]*$`;

/** Longest name within a mail. */
const maxNameChars = 60;

const visible = new RegExp(visiblePattern, 'u');
const allControls = new RegExp(`[${controls}]+`, 'gu');
const allDirections = new RegExp(`[${directions}]+`, 'gu');
/** Removed at the ends; joiners and selectors belong to the character before them. */
const empty = new Set([' ', '\u00ad', '\u200b', '\u2060', '\ufeff']);

/** True if nothing in it is visible. */
export function isBlank(text: string): boolean {
  return !visible.test(text);
}

/** Trims and collapses white space, turns line ends into spaces, and normalises accents (NFC). */
export function oneLine(text: string): string {
  const line = text.replace(allDirections, '').replace(allControls, ' ').replace(/\s+/gu, ' ');
  let [start, end] = [0, line.length];
  while (start < end && empty.has(line.charAt(start))) start += 1;
  while (end > start && empty.has(line.charAt(end - 1))) end -= 1;
  return line.slice(start, end).normalize('NFC');
}

/** What mail clients turn into a link: a scheme, an @, a dot before letters. */
const linkish = /:\/\/|[@＠]|[.。．｡](?=\p{L}{2})/u;

/**
 * A user-chosen name, made safe for a text in the service's own name: one line, at most `maxChars`, nothing that
 * becomes a link.
 */
export function plainName(name: string, maxChars = maxNameChars): string {
  const words = oneLine(name)
    .split(' ')
    .map((word) => (linkish.test(word) ? word.replace(/:\/+/gu, ': ').replace(/([@＠.。．｡/])(?=\S)/gu, '$1 ') : word));
  const line = words.join(' ');
  const short = firstChars(line, maxChars);
  return short.length < line.length ? `${short.trimEnd()}…` : line;
}

/** A display name beside an email address that does not look like an address itself. */
export function mailboxName(name: string): string {
  return firstChars(oneLine(name.replace(/[@＠]/gu, ' at ')), maxNameChars);
}
