// Parses a delivery status report: which mail, whether it failed for good, and why. RFC 3464.

import { refusesAddress } from '../providers/mail-refusal.ts';

export interface DeliveryReport {
  /** Message-IDs of the returned mail, without brackets. */
  readonly mailIds: readonly string[];
  /** failed, delayed, delivered, relayed, expanded; empty if not stated. */
  readonly action: string;
  /** RFC 3463, such as 5.1.1; empty if not stated. */
  readonly status: string;
  readonly diagnostic: string;
  /** The address accepts no mail at all; false if only this mail was refused, or the report does not tell. */
  readonly isOfAddress: boolean;
  /** The recipient it did not reach. */
  readonly recipient: string | null;
}

const maxDiagnosticChars = 500;
/** The reason is in this part, before any text of the mail itself. */
const maxWordsChars = 2000;

/**
 * From the parts of a multipart/report about delivery, and its human-readable text. Of several recipients the first
 * failure counts.
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
  // `smtp; 550 5.1.1 ...`: the type prefix is irrelevant. Exim omits the code for an unroutable address and says so in
  // words.
  const diagnostic = (told?.get('diagnostic-code') ?? '').replace(/^[\w-]+;\s*/, '').slice(0, maxDiagnosticChars);
  return {
    mailIds: returned,
    action: told?.get('action')?.toLowerCase() ?? '',
    status,
    diagnostic,
    // `rfc822; kim@example.org`: the original recipient, if the report has it.
    recipient:
      /;\s*<?([^\s<>;]+@[^\s<>;]+)>?\s*$/.exec(
        told?.get('original-recipient') ?? told?.get('final-recipient') ?? '',
      )?.[1] ?? null,
    isOfAddress: refusesAddress({ status, text: diagnostic === '' ? words.slice(0, maxWordsChars) : diagnostic }),
  };
}

/** Groups of fields, separated by empty lines; names in lower case, folded values on one line. */
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
