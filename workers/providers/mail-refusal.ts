// Decides whether a mail server's refusal means the address, which accepts no mail at all, or only this mail: its
// words, its size, its sender, a full mailbox. Based on RFC 3463 and on servers' wording if their code says nothing.
// When in doubt it is the mail: a wasted retry costs a mail, a suppressed address costs a customer.

/**
 * Unknown mailbox or domain, invalid, moved, accepts no mail (RFC 7505), closed. 5.1.7 and 5.1.8 mean the sender's
 * address.
 */
const ofAddress: ReadonlySet<string> = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']);
/** Unspecific codes: exim writes 5.0.0 in every report, Microsoft refuses unknown recipients with 5.4.1 and 5.5.0. */
const ofAnything: ReadonlySet<string> = new Set(['', '5.0.0', '5.1.0', '5.4.1', '5.5.0']);

/** An IP address may begin like one. */
const enhancedCode = /(?<![.\d])5\.\d{1,3}\.\d{1,3}(?![.\d])/;

const words: readonly RegExp[] = [
  /\b(?:no such|unknown|invalid|unrouteable|unroutable|non-?existent) (?:local |virtual |e-?mail |destination )?(?:user|recipient|mailbox|account|address|person|part)/i,
  /\b(?:user|recipient|mailbox|account|address|addressee|alias)\b[^.;]{0,60}?\b(?:unknown|not found|not known|no longer|disabled|inactive|suspended|closed|does ?n[o']t exist|does not exist|does ?n[o']t have)/i,
  /\bnot a (?:known|valid) (?:user|recipient|mailbox|account|address)/i,
  /\brecipient ?not ?found|\bmailbox unavailable|\baddress rejected/i,
];
/** About the mail or its sender, even beside the words above. */
const otherwise =
  /\b(?:spam|polic(?:y|ies)|block(?:ed|list)?|blacklist|reputation|quota|full|large|size|content|virus|malware|rate|greylist\w*|dmarc|spf|dkim|sender|relay\w*)\b/i;

/**
 * `status` as in 5.1.1, empty if there is none; `text` is the server's answer, with its own code at the beginning if it
 * has one.
 */
export function refusesAddress({ status, text }: { readonly status: string; readonly text: string }): boolean {
  const code = ofAnything.has(status) ? (enhancedCode.exec(text)?.[0] ?? status) : status;
  if (ofAddress.has(code)) return true;
  return ofAnything.has(code) && !otherwise.test(text) && words.some((pattern) => pattern.test(text));
}
