// Servers that a workspace named, and sending mail through them. It connects only to an address that it checked itself, because the
// name may lead somewhere else a moment later. One connection for each mail: nothing is kept between workspaces.

import { isIP } from 'node:net';
import { isPublicAddress, type ResolveHost } from './host-resolver.ts';
import { type OutgoingMail, type SmtpPatience, type SmtpSignIn, sendOnce } from './mail.ts';

/** With a password, or with a token that a mail provider issued (XOAUTH2). */
export type MailUser = { readonly name: string } & ({ readonly password: string } | { readonly accessToken: string });

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: 'starttls' | 'tls' | 'none';
  readonly user: MailUser | undefined;
  readonly mayBePrivate: boolean;
}

/** A person may wait for the answer, in a test of the settings. */
const patience: SmtpPatience = { stepMs: 5000, mailMs: 15_000 };

/** Resolves to the server's answer. Rejects as MailSender does. */
export type SendThrough = (server: MailServer, mail: OutgoingMail) => Promise<string>;

export function mailServers(resolveHost: ResolveHost, given: SmtpPatience = patience): SendThrough {
  return async (server, mail) => {
    const { host, port, security, user } = server;
    const address = await publicAddressOf(server, resolveHost);
    return sendOnce(
      {
        host: address,
        port,
        secure: security === 'tls',
        requireTLS: security === 'starttls',
        tls: {
          ...(isIP(host) === 0 ? { servername: host } : {}),
          // A server on the own network mostly has a self-signed certificate: encryption without a check is better than
          // none (RFC 7435).
          rejectUnauthorized: isPublicAddress(address),
        },
        ...(user === undefined ? {} : { auth: authOf(user) }),
      },
      mail,
      given,
    );
  };
}

function authOf(user: MailUser): SmtpSignIn {
  return 'password' in user
    ? { user: user.name, pass: user.password }
    : { type: 'OAuth2', user: user.name, accessToken: user.accessToken };
}

/** The address of the server's host. Rejects if it may not be connected to. */
export async function publicAddressOf(
  { host, mayBePrivate }: Pick<MailServer, 'host' | 'mayBePrivate'>,
  resolveHost: ResolveHost,
): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolveHost(host) : [host];
  const allowed = addresses.filter((address) => mayBePrivate || isPublicAddress(address));
  // Many machines have no way to IPv6 addresses.
  const address = allowed.find((one) => isIP(one) === 4) ?? allowed[0];
  if (address === undefined) throw new Error(`the mail server ${host} has no public address`);
  return address;
}
