// Addresses, Message-IDs and subjects as they stand in mail, read into what can be compared. Pure functions of their
// input, linear in its length.

import { domainToASCII } from 'node:url';
import { oneLine } from './lines.ts';

export interface Mailbox {
  readonly address: string;
  readonly name: string | null;
}

const addressShape = /^[^\s@<>()[\],;:"\\]{1,64}@[^\s@<>()[\],;:"\\]{1,189}$/;
const ascii = /^[\x00-\x7f]*$/;
/**
 * Of a local part beyond ASCII: letters with their marks and digits of any script, and what ASCII's may have (RFC
 * 6532).
 */
const letters = /^[\x21-\x7e\p{L}\p{M}\p{N}]+$/u;
/** Of a domain: the same, and the dots of Chinese and Japanese keyboards. Nothing that would be taken for an escape. */
const labels = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** Bytes (RFC 5321 §4.5.3.1). */
const maxLocalBytes = 64;
const maxAddressChars = 254;
/** Control characters, line breaks among them, have no place in a header. */
const hasControls = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;
/** More than any client writes; a longer chain keeps its beginning and its end. */
const maxMailIds = 100;
/** RFC 5322 §2.1.1: no line is longer, and a Message-ID stands on one. */
const maxMailIdChars = 998;

/** `Ann <ann@example.com>`, `<ann@example.com>` or `ann@example.com`; undefined when there is no address in it. */
export function parseMailbox(text: string): Mailbox | undefined {
  const open = text.lastIndexOf('<');
  const close = text.indexOf('>', open);
  const bracketed = open >= 0 && close > open;
  const address = (bracketed ? text.slice(open + 1, close) : text).trim();
  const name = bracketed
    ? oneLine(text.slice(0, open))
        .replace(/^"([^]*)"$/, '$1')
        .replace(/\\(.)/g, '$1')
        .trim()
    : '';
  if (!isAddress(address) && !isMailerDaemon(address)) return undefined;
  return { address: comparable(address), name: name === '' ? null : name };
}

/** In one form, whatever it is: mail is taken from whoever wrote it. */
export function comparable(address: string): string {
  return (canonicalAddress(address) ?? address).toLowerCase();
}

/**
 * Those of a header that names several, parted by commas outside of quotes and brackets. A quote that does not end
 * lasts to the end, so that none is looked for twice.
 */
export function parseMailboxes(text: string): Mailbox[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|<[^<>]*>|[^,])+/g) ?? [];
  return parts.flatMap((part) => parseMailbox(part.trim()) ?? []);
}

export function isAddress(text: string): boolean {
  return addressShape.test(text) && !hasControls.test(text);
}

/**
 * An address with letters beyond ASCII as it is kept and compared: composed (NFC), in small letters, its domain as DNS
 * has it (IDNA). One of ASCII
 * is itself; undefined for what is no such address. A mail server that knows no SMTPUTF8 (RFC 6531) takes no mail for a
 * local part beyond ASCII.
 */
export function canonicalAddress(address: string): string | undefined {
  if (ascii.test(address)) return address;
  const small = address.toLowerCase().normalize('NFC');
  const [localPart, host] = [localPartOf(small), hostOf(small)];
  if (!letters.test(localPart) || Buffer.byteLength(localPart) > maxLocalBytes || !labels.test(host)) return undefined;
  const domain = ascii.test(host) ? host : domainToASCII(host);
  // DNS writes more letters than people do.
  return domain === '' || localPart.length + domain.length >= maxAddressChars ? undefined : `${localPart}@${domain}`;
}

export function isMailerDaemon(address: string): boolean {
  return /^mailer-daemon(?:@|$)/i.test(address);
}

export function hostOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** The address behind a sub-address: name@ for name+tag@ (RFC 5233). One without a tag is itself. */
export function withoutTag(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+');
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address;
}

export function localPartOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@'));
}

/**
 * False when a header's value would end its line and begin another. A folded line (RFC 5322 §2.2.3) is one line still.
 */
export function isOneLine(text: string): boolean {
  return !hasControls.test(text.replace(/\r?\n(?=[ \t])/g, '').replaceAll('\t', ' '));
}

/** The Message-IDs of a header, without brackets, in order; of a very long list its first and its last ones. */
export function mailIdsIn(header: string | undefined): string[] {
  if (header === undefined) return [];
  const bracketed = bracketedIn(header);
  const ids = (bracketed.length > 0 ? bracketed : header.split(/[\s,]+/)).map(bareMailId).filter(isMailId);
  const distinct = [...new Set(ids)];
  return distinct.length <= maxMailIds ? distinct : [distinct[0] ?? '', ...distinct.slice(1 - maxMailIds)];
}

/** The one Message-ID of a mail's own header; undefined when it has none. */
export function mailIdIn(header: string): string | undefined {
  return [...bracketedIn(header), header].map(bareMailId).find(isMailId);
}

/** Begins the id of a mail that came without one. It is ours alone: no header may hold it. */
export const derivedMailId = 'derived:';

function bracketedIn(header: string): string[] {
  return [...header.matchAll(/<([^<>]+)>/g)].map(([, id = '']) => id);
}

/**
 * Without white space, which is no part of an id: it is folding, or a client that does not know that it is not allowed
 * (RFC 5322 §3.6.4).
 */
function bareMailId(id: string): string {
  return id.replace(/[<>\s]+/g, '');
}

function isMailId(id: string): boolean {
  return id !== '' && id.length <= maxMailIdChars && !id.startsWith(derivedMailId);
}

/** What mail clients put before the subject of an answer or a forward, in the languages they speak. */
const subjectPrefix =
  /^\s*(?:\[[^\]]{0,40}\]\s*)?(?:re|fwd?|aw|wg|sv|vs|antw|vb|doorst|rv|res|enc|tr|réf|rif|odp|pd|ynt|ilt|vá|továbbítás|回复|答复|转发|回覆|轉寄|返信|転送)\s*(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s*[:：]/iu;
const maxPrefixes = 50;

/** The subject without Re: and Fwd:, in lower case, with single spaces: what mails of one thread have in common. */
export function subjectKeyOf(subject: string): string {
  let rest = oneLine(subject).slice(0, maxMailIdChars);
  for (let count = 0; count < maxPrefixes && subjectPrefix.test(rest); count += 1)
    rest = rest.replace(subjectPrefix, '');
  return rest.trim().replace(/\s+/g, ' ').toLowerCase();
}
