// What a delivery status report says: which mail, whether that is the end of it, and why. RFC 3464.

import { refusesAddress } from '../providers/mail-refusal.ts';

export interface DeliveryReport {
  /** Message-IDs of the mail that it returns, without brackets. */
  readonly mailIds: readonly string[];
  /** failed, delayed, delivered, relayed, expanded; empty when it does not say. */
  readonly action: string;
  /** RFC 3463, such as 5.1.1; empty when it does not say. */
  readonly status: string;
  readonly diagnostic: string;
  /** The address takes no mail at all; false when it was this mail that was not wanted, or nobody can tell. */
  readonly isOfAddress: boolean;
  /** Whom it did not reach. */
  readonly recipient: string | null;
}

const maxDiagnosticChars = 500;
/** Where the reason stands, before anything that may be of the mail itself. */
const maxWordsChars = 2000;

/**
 * From the parts of a multipart/report that is about delivery, and the text of it that is for people. Of several
 * recipients the first that failed counts.
 */
export function deliveryReportOf(
  parts: readonly { readonly contentType: string; readonly text: string }[],
  words: string,
): DeliveryReport {
  const recipients = parts
    .filter(({ contentType }) => contentType.endsWith('delivery-status'))
    .flatMap(({ text }) => fieldGroups(text));
  const told =
    recipients.find((fields) => fields.get('action')?.toLowerCase() === 'failed') ??
    recipients.find((fields) => fields.has('action'));
  const returned = parts
    .filter(({ contentType }) => !contentType.endsWith('delivery-status'))
    .flatMap(({ text }) => mailIdIn(text));
  const status = /\d\.\d{1,3}\.\d{1,3}/.exec(told?.get('status') ?? '')?.[0] ?? '';
  // `smtp; 550 5.1.1 ...`: the kind of server is of no interest. Exim has none of an address that it finds no way to,
  // but says so in words.
  const diagnostic = (told?.get('diagnostic-code') ?? '').replace(/^[\w-]+;\s*/, '').slice(0, maxDiagnosticChars);
  return {
    mailIds: returned,
    action: told?.get('action')?.toLowerCase() ?? '',
    status,
    diagnostic,
    // `rfc822; kim@example.org`: as it was sent to, where the report knows that.
    recipient:
      /;\s*<?([^\s<>;]+@[^\s<>;]+)>?\s*$/.exec(
        told?.get('original-recipient') ?? told?.get('final-recipient') ?? '',
      )?.[1] ?? null,
    isOfAddress: refusesAddress({ status, text: diagnostic === '' ? words.slice(0, maxWordsChars) : diagnostic }),
  };
}

/** Groups of fields, parted by empty lines; names in lower case, folded values on one line. */
function fieldGroups(text: string): Map<string, string>[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .map(
      (group) =>
        new Map(
          group
            .replace(/\n[ \t]+/g, ' ')
            .split('\n')
            .flatMap((line) => fieldOf(line)),
        ),
    );
}

function fieldOf(line: string): [string, string][] {
  const colon = line.indexOf(':');
  return colon <= 0 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]];
}

function mailIdIn(headers: string): string[] {
  const [group] = fieldGroups(headers.trimStart());
  const id = /<([^<>\s]+)>/.exec(group?.get('message-id') ?? '')?.[1];
  return id === undefined ? [] : [id];
}
