// What the settings say of where NATS is and how it lets this node in, and, in a person's words, why it cannot be reached
// there. Never repeats a password.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import {
  AuthorizationError,
  credsAuthenticator,
  type NodeConnectionOptions,
  type TlsOptions,
} from '@nats-io/transport-node';
import { Refused } from '../failures.ts';

export interface NatsSettings {
  /** CLUSTER_NATS_URL: one address or several, separated by commas. */
  readonly url: string;
  /** CLUSTER_NATS_CREDS: a file. */
  readonly credsFile: string | undefined;
  /** CLUSTER_NATS_CA_FILE: a file, PEM. */
  readonly caFile: string | undefined;
  /** How the servers of NATS list this connection. */
  readonly clientName: string;
  /** How long a start waits for NATS, which may start at the same time. */
  readonly patienceMs: number;
}

/** NATS, as it is set up, cannot hold a cluster. The message names the setting, and is for whoever starts the service. */
export class ClusterRefused extends Refused {
  override readonly name = 'ClusterRefused';
}

/** As above: nothing can be written, not even that this node is there. */
export class NatsFull extends ClusterRefused {
  constructor(how: string, options?: ErrorOptions) {
    super(
      `NATS, which CLUSTER_NATS_URL names, is full: ${how}. Give it more room on all servers (max_file_store, and max_file of an account that has it; then reload them), and start this node again`,
      options,
    );
  }
}

const dialMs = 5000;
/** A server that says nothing is left after two of these. */
const pingMs = 3000;
/** Between attempts to come back, and as much again by chance, so that nodes do not come back all at once. */
const reconnectMs = 250;

/** Rejects with ClusterRefused. */
export async function connectionOptions(settings: NatsSettings): Promise<NodeConnectionOptions> {
  const { servers, user, pass, isTls } = parseUrl(settings.url);
  const creds = settings.credsFile === undefined ? undefined : await fileOf('CLUSTER_NATS_CREDS', settings.credsFile);
  const ca = await authoritiesIn('CLUSTER_NATS_CA_FILE', settings.caFile);
  if (creds !== undefined && !/-----BEGIN NATS USER JWT-----[\s\S]+-----BEGIN USER NKEY SEED-----/.test(`${creds}`))
    throw new ClusterRefused(
      `CLUSTER_NATS_CREDS must be a credentials file of NATS, and ${settings.credsFile} is none`,
    );
  return {
    servers,
    name: settings.clientName,
    timeout: dialMs,
    pingInterval: pingMs,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    reconnectJitter: reconnectMs,
    reconnectJitterTLS: reconnectMs,
    // A password that is changed while this runs is wrong for a while, not for ever.
    ignoreAuthErrorAbort: true,
    // A stack for every question, in case it fails.
    noAsyncTraces: true,
    ...(user === undefined ? {} : { user, pass: pass ?? '' }),
    ...(creds === undefined ? {} : { authenticator: credsAuthenticator(creds) }),
    ...(isTls || ca !== undefined ? { tls: tlsOptions(servers, ca) } : {}),
  };
}

/** The first address's name and password serve for all. Throws ClusterRefused, without the text, which holds them. */
export function parseUrl(text: string): {
  readonly servers: string[];
  readonly user: string | undefined;
  readonly pass: string | undefined;
  readonly isTls: boolean;
} {
  const urls = text.split(',').map((part) => URL.parse(part.trim()));
  const [first] = urls;
  const protocols = new Set(urls.map((url) => url?.protocol));
  if (
    !first ||
    urls.includes(null) ||
    urls.some((url) => url?.hostname === '' || !['', '/'].includes(url?.pathname ?? ''))
  )
    throw new ClusterRefused(shapeOfUrl);
  if (protocols.size > 1 || !/^(?:nats|tls):$/.test(first.protocol)) throw new ClusterRefused(shapeOfUrl);
  return {
    servers: urls.flatMap((url) => (url === null ? [] : [`${url.hostname}:${url.port === '' ? natsPort : url.port}`])),
    user: decoded(first.username),
    pass: decoded(first.password),
    isTls: first.protocol === 'tls:',
  };
}

/** The library passes on to Node.js what it does not know itself. */
function tlsOptions(
  servers: readonly string[],
  ca: string | undefined,
): TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> {
  const hosts = servers.map((server) => new URL(`nats://${server}`).hostname.replace(/^\[|\]$/g, ''));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return {
    ...(ca === undefined ? {} : { ca }),
    checkServerIdentity(host, certificate) {
      // The library has the certificate of a server at an IP address checked for the name localhost.
      const isAddress = host === 'localhost' && addresses.length > 0;
      const meant = isAddress ? [...addresses, ...hosts.filter((one) => one === host)] : [host];
      const problems = meant.map((one) => checkServerIdentity(one, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

function decoded(part: string): string | undefined {
  try {
    return part === '' ? undefined : decodeURIComponent(part);
  } catch (error) {
    throw new ClusterRefused(shapeOfUrl, { cause: error });
  }
}

const natsPort = 4222;
const shapeOfUrl =
  'CLUSTER_NATS_URL must be addresses such as nats://user:password@a.example.com:4222,nats://b.example.com:4222, all with nats:// or all with tls://';

/** The text of a file of certificates. Rejects with ClusterRefused, which names the setting. */
export async function authoritiesIn(setting: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await fileOf(setting, path);
  try {
    new X509Certificate(bytes);
  } catch (error) {
    throw new ClusterRefused(`${setting} must name a file of certificates in PEM, and ${path} is none`, {
      cause: error,
    });
  }
  return `${bytes}`;
}

async function fileOf(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ClusterRefused(`${setting} names a file that cannot be read: ${wordsOf(error)}`, { cause: error });
  }
}

/** Waiting does not help. */
export function isFinal(error: unknown): boolean {
  return error instanceof AuthorizationError || isUntrusted(error);
}

export function refusalOf(error: unknown, settings: NatsSettings): ClusterRefused {
  const servers = parseUrl(settings.url).servers.join(', ');
  const setting = settings.credsFile === undefined ? 'CLUSTER_NATS_URL' : 'CLUSTER_NATS_CREDS';
  if (error instanceof AuthorizationError)
    return new ClusterRefused(
      `NATS at ${servers} does not let this node in: the ${settings.credsFile === undefined ? 'name or the password in' : 'file named by'} ${setting} is not one of its own`,
      { cause: error },
    );
  if (isUntrusted(error))
    return new ClusterRefused(
      `NATS at ${servers} has a certificate that cannot be trusted (${wordsOf(error)}): CLUSTER_NATS_CA_FILE must name the authority that signed it, and CLUSTER_NATS_URL the host that it is for`,
      { cause: error },
    );
  return new ClusterRefused(`No NATS server answers at ${servers}, which CLUSTER_NATS_URL names: ${wordsOf(error)}`, {
    cause: error,
  });
}

/** The other side's certificate is of an authority that is not known, of another host, or too old. */
export function isUntrusted(error: unknown): boolean {
  const codes = [error, causeOf(error)].map((one) => String((one as NodeJS.ErrnoException | undefined)?.code));
  return codes.some((code) => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code));
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
