// Names under the mail host that are not a workspace's to have, since `<name>@<mail host>` would speak, or be asked,
// for whoever runs the service. A workspace that was given one before keeps it.

import { localPartOf } from '../mail-addresses.ts';

/**
 * Where a certificate authority asks whether a certificate for a host may be issued (CA/B Baseline Requirements
 * 3.2.2.4.4).
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
  // Where authorities asked in former times.
  ...['root', 'ssladmin', 'ssladministrator', 'sslwebmaster', 'sysadmin', 'info', 'is', 'it', 'mis'],
  // RFC 2142.
  ...['abuse', 'ftp', 'marketing', 'news', 'noc', 'sales', 'security', 'support', 'usenet', 'uucp', 'www'],
  // Hosts and addresses that programs look for by themselves.
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
  // What mail comes from or goes to that no person of a workspace writes.
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
  // Who would be taken for the operator.
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

/** Servers, which are often numbered. */
const servers = /^(?:mail|mx|smtp|imap|pop|relay|ns|dns|vpn|web|webmail)-?\d*$/;

/** `ownAddress`: what the service's own mail comes from. */
export function isReservedName(name: string, ownAddress: string): boolean {
  return (
    reserved.has(name) || servers.test(name) || name === localPartOf(ownAddress).toLowerCase().replace(/\+.*$/, '')
  );
}

/** Of an address at the host of a workspace, which is the operator's still. */
export function isReservedLocalPart(localPart: string): boolean {
  return askedForCertificates.has(localPart);
}
