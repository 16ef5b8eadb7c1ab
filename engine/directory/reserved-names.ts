// Names under the mail host that no workspace may have, because `<name>@<mail host>` would speak, or be asked, for the
// operator. A workspace that already has one keeps it.

import { localPartOf } from '../mail-addresses.ts';

/**
 * Addresses that a certificate authority may ask for approval of a certificate (CA/B Baseline Requirements 3.2.2.4.4).
 */
const askedForCertificates: ReadonlySet<string> = new Set([
  'admin',
  'administrator',
  'hostmaster',
  'postmaster',
  'webmaster',
]);

const reserved: ReadonlySet<string> = new Set([
  ...askedForCertificates,
  // Used by authorities in the past.
  ...['root', 'ssladmin', 'ssladministrator', 'sslwebmaster', 'sysadmin', 'info', 'is', 'it', 'mis'],
  // RFC 2142.
  ...['abuse', 'ftp', 'marketing', 'news', 'noc', 'sales', 'security', 'support', 'usenet', 'uucp', 'www'],
  // Hosts and addresses that programs look up automatically.
  ...[
    'autoconfig',
    'autodiscover',
    'broadcasthost',
    'dkim',
    'dmarc',
    'isatap',
    'localhost',
    'localdomain',
    'mta-sts',
    'openpgpkey',
    'spf',
    'tls-rpt',
    'tlsrpt',
    'wpad',
  ],
  // Senders and recipients of automatic mail.
  ...[
    'bounce',
    'bounces',
    'daemon',
    'mailer-daemon',
    'no-reply',
    'nobody',
    'noreply',
    'do-not-reply',
    'donotreply',
    'reply',
    'return',
    'unsubscribe',
  ],
  // Names that could be mistaken for the operator.
  ...[
    'account',
    'accounts',
    'api',
    'app',
    'billing',
    'cert',
    'certs',
    'contact',
    'docs',
    'help',
    'helpdesk',
    'legal',
    'login',
    'operator',
    'owner',
    'payments',
    'privacy',
    'register',
    'sign-in',
    'signin',
    'status',
    'switchboard',
    'system',
    'team',
    'trust',
    'verify',
  ],
]);

/** Names of servers, often numbered. */
const servers = /^(?:mail|mx|smtp|imap|pop|relay|ns|dns|vpn|web|webmail)-?\d*$/;

/** `ownAddress`: the sender address of the service's own mail. */
export function isReservedName(name: string, ownAddress: string): boolean {
  return (
    reserved.has(name) || servers.test(name) || name === localPartOf(ownAddress).toLowerCase().replace(/\+.*$/, '')
  );
}

/** For an address at a workspace's host, which still belongs to the operator. */
export function isReservedLocalPart(localPart: string): boolean {
  return askedForCertificates.has(localPart);
}
