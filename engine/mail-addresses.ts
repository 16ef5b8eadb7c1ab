// Parses addresses, Message-IDs and subjects of mail into comparable forms. Pure functions, linear in their input.

import { domainToASCII } from 'node:url';
import { oneLine } from './lines.ts';

export interface Mailbox {
  readonly address: string;
  readonly name: string | null;
}

const addressShape = /^[^\s@<>()[\],;:"\\]{1,64}@[^\s@<>()[\],;:"\\]{1,189}$/;
const ascii = /^[\x00-\x7f]*$/;
/**
 * A local part beyond ASCII: letters with marks and digits of any script, and the characters ASCII allows (RFC 6532).
 */
const letters = /^[\x21-\x7e\p{L}\p{M}\p{N}]+$/u;
/** A domain: the same, and the dots of Chinese and Japanese keyboards. Nothing that could be read as an escape. */
const labels = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** Bytes (RFC 5321 §4.5.3.1). */
const maxLocalBytes = 64;
const maxAddressChars = 254;
/** Control characters, including line breaks, are not allowed in a header. */
const hasControls = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;
/** More than any client writes; of a longer chain the beginning and the end are kept. */
const maxMailIds = 100;
/** RFC 5322 §2.1.1: the maximum line length, and a Message-ID is on one line. */
const maxMailIdChars = 998;

/** Parses `Ann <ann@example.com>`, `<ann@example.com>` or `ann@example.com`; undefined if there is no address in it. */
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

/** Normalises any address: mail is accepted from every sender. */
export function comparable(address: string): string {
  return (canonicalAddress(address) ?? address).toLowerCase();
}

/**
 * The mailboxes of a header, split at commas outside quotes and brackets. An unclosed quote extends to the end, so the
 * scan stays linear.
 */
export function parseMailboxes(text: string): Mailbox[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|<[^<>]*>|[^,])+/g) ?? [];
  return parts.flatMap((part) => parseMailbox(part.trim()) ?? []);
}

export function isAddress(text: string): boolean {
  return addressShape.test(text) && !hasControls.test(text);
}

/**
 * The stored form of an address beyond ASCII: composed (NFC), in lower case, with an IDNA domain. An ASCII address is
 * unchanged; undefined if invalid. A mail server without SMTPUTF8 (RFC 6531) rejects a local part beyond ASCII.
 */
export function canonicalAddress(address: string): string | undefined {
  if (ascii.test(address)) return address;
  const small = address.toLowerCase().normalize('NFC');
  const [localPart, host] = [localPartOf(small), hostOf(small)];
  if (!letters.test(localPart) || Buffer.byteLength(localPart) > maxLocalBytes || !labels.test(host)) return undefined;
  const domain = ascii.test(host) ? host : domainToASCII(host);
  // The encoded domain may be longer than the typed one.
  return domain === '' || localPart.length + domain.length >= maxAddressChars ? undefined : `${localPart}@${domain}`;
}

export function isMailerDaemon(address: string): boolean {
  return /^mailer-daemon(?:@|$)/i.test(address);
}

export function hostOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Removes the tag of a sub-address: name@ for name+tag@ (RFC 5233). */
export function withoutTag(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+');
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address;
}

export function localPartOf(address: string): string {
  return address.slice(0, address.lastIndexOf('@'));
}

/** False if a header's value would end its line and begin another. A folded line (RFC 5322 §2.2.3) counts as one. */
export function isOneLine(text: string): boolean {
  return !hasControls.test(text.replace(/\r?\n(?=[ \t])/g, '').replaceAll('\t', ' '));
}

/** The Message-IDs of a header, without brackets, in order; of a very long list the first and the last. */
export function mailIdsIn(header: string | undefined): string[] {
  if (header === undefined) return [];
  const bracketed = bracketedIn(header);
  const ids = (bracketed.length > 0 ? bracketed : header.split(/[\s,]+/)).map(bareMailId).filter(isMailId);
  const distinct = [...new Set(ids)];
  return distinct.length <= maxMailIds ? distinct : [distinct[0] ?? '', ...distinct.slice(1 - maxMailIds)];
}

/** The Message-ID of a mail's own header; undefined if it has none. */
export function mailIdIn(header: string): string | undefined {
  return [...bracketedIn(header), header].map(bareMailId).find(isMailId);
}

/** Prefix of our ids for mails that came without one. It must never appear in a header. */
export const derivedMailId = 'derived:';

function bracketedIn(header: string): string[] {
  return [...header.matchAll(/<([^<>]+)>/g)].map(([, id = '']) => id);
}

/** Without white space, which is never part of an id: it is folding, or a mistake of the client (RFC 5322 §3.6.4). */
function bareMailId(id: string): string {
  return id.replace(/[<>\s]+/g, '');
}

function isMailId(id: string): boolean {
  return id !== '' && id.length <= maxMailIdChars && !id.startsWith(derivedMailId);
}

/** Prefixes that mail clients add to subjects of answers and forwards, in various languages. */
const subjectPrefix =
  /^\s*(?:\[[^\]]{0,40}\]\s*)?(?:re|fwd?|aw|wg|sv|vs|antw|vb|doorst|rv|res|enc|tr|réf|rif|odp|pd|ynt|ilt|vá|továbbítás|回复|答复|转发|回覆|轉寄|返信|転送)\s*(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s*[:：]/iu;
const maxPrefixes = 50;

/** The subject without Re: and Fwd:, in lower case, with single spaces: the common part of a thread's subjects. */
export function subjectKeyOf(subject: string): string {
  let rest = oneLine(subject).slice(0, maxMailIdChars);
  for (let count = 0; count < maxPrefixes && subjectPrefix.test(rest); count += 1)
    rest = rest.replace(subjectPrefix, '');
  return rest.trim().replace(/\s+/g, ' ').toLowerCase();
}
