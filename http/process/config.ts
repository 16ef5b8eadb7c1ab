// The service's settings: environment variables, checked once at start. An invalid one stops the start with a message
// that names it. The only reader of process.env.

import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { domainToASCII } from 'node:url';
import { verifyCountries as defaultCountries } from '../../engine/constants.ts';
import { type ChoiceOf, type NameOf, type SettingName, settings, settingsOfArea } from './settings.ts';

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** The public address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** Undefined: made once and kept in the data folder. */
  readonly jwtSecret: string | undefined;
  readonly tokenTtlDays: number;
  readonly rateLimitPerMinute: number;
  /** False disables all rate limits, for load tests. */
  readonly rateLimits: boolean;
  /** Proxies in front, each behind the next, that add an address to X-Forwarded-For; 0: the header is ignored. */
  readonly trustProxy: number;
  /** Maximum connections, and sockets, per network. */
  readonly maxConnectionsPerNetwork: number;
  /**
   * Sources for the location of visitors: a file in the MMDB format, and the headers, in lower case, in which a trusted
   * proxy names the country.
   */
  readonly geo: { readonly database: string | undefined; readonly countryHeaders: readonly string[] };
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly autoCloseDays: number;
  /** Who may create a workspace after the first one. */
  readonly registration: 'open' | 'invite' | 'off';
  readonly ceilings: {
    /** For the whole service. */
    readonly workspacesPerDay: number;
    /** Per workspace, like those that follow. */
    readonly mailsPerDay: number;
    /** One-time codes. */
    readonly codesPerDay: number;
    /** Uploads of a workspace, its customers included. */
    readonly uploadBytesPerDay: number;
    /** Mail received by SMTP from one network, for all workspaces together. */
    readonly smtpBytesPerDay: number;
    /** Phone numbers, including those released within 30 days. */
    readonly numbers: number;
    /** Tokens of the operator's language model. */
    readonly aiTokensPerDay: number;
  };
  /** Countries that codes may be sent to by phone (ISO 3166 alpha-2); undefined: all. */
  readonly verifyCountries: readonly string[] | undefined;
  /** Client ids of the apps that the operator has reviewed: every workspace may use them. */
  readonly oauthLiveApps: readonly string[];
  /** `isChosen`: the environment names the provider, so workspaces cannot name a server of their own. */
  readonly mail:
    | { readonly provider: 'outbox'; readonly isChosen: boolean }
    | { readonly provider: 'smtp'; readonly isChosen: true; readonly url: string };
  /** `isChosen`: the environment decides about the language model, so workspaces cannot name one of their own. */
  readonly ai: {
    readonly isChosen: boolean;
    readonly model: { readonly url: string; readonly name: string; readonly key: string | undefined } | undefined;
  };
  /** The address that mail is sent from. */
  readonly mailFrom: string;
  /** The DKIM key for mail from the mail host (RFC 6376): a file with a private RSA key, PEM. */
  readonly mailKey: { readonly file: string; readonly selector: string } | undefined;
  /** Apps registered with mail providers, by which admins connect mailboxes. */
  readonly mailApps: {
    readonly [Provider in 'google' | 'microsoft']?: { readonly clientId: string; readonly clientSecret: string };
  };
  readonly carrier: CarrierConfig;
  /** The host of the addresses that receive mail, in lower case. */
  readonly mailHost: string;
  /** Where the SMTP listener is; undefined: none, mail arrives only by webhook. */
  readonly smtp:
    | {
        readonly host: string;
        readonly port: number;
        readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
      }
    | undefined;
  /** `ip` or `ip:port`; undefined: the system's resolver. */
  readonly dnsServers: readonly string[] | undefined;
  readonly emailDomainProvider: 'self' | 'none';
  /** The delay before the first check of a new email domain. */
  readonly domainPollSeconds: number;
  /** Undefined: made once and kept in the data folder. */
  readonly secretsKey: string | undefined;
  /** Whether crawls and imports may reach private addresses. */
  readonly allowPrivateCrawl: boolean;
  /** Whether a workspace's webhooks and its shop may be at private addresses. */
  readonly allowPrivateWebhooks: boolean;
  readonly embedding:
    | { readonly provider: 'builtin' }
    | { readonly provider: 'none' }
    /** The name or folder of a model, searched in `modelDir` and in the data folder. */
    | { readonly provider: 'model'; readonly model: string | undefined; readonly modelDir: string | undefined };
  /** Where models are downloaded from on request. */
  readonly modelHub: string;
  readonly storage:
    | { readonly provider: 'disk' | 'none' }
    | {
        readonly provider: 's3';
        readonly endpoint: string;
        readonly bucket: string;
        readonly accessKey: string;
        readonly secretKey: string;
        readonly region: string;
      };
  /** Space on the disk of the data folder that is reserved for the work of existing workspaces; 0: none. */
  readonly diskReserveBytes: number;
  /** Maximum total size of a workspace's team attachments. */
  readonly storageQuotaBytes: number;
  readonly billing: BillingConfig;
  /** Undefined: plain connections, for use behind a proxy or on a local machine. */
  readonly tls: TlsFiles | undefined;
  /** Undefined: this process is alone. */
  readonly cluster: ClusterConfig | undefined;
}

/** One node of several. `jwtSecret` and `secretsKey` are set then, and files are in a bucket or not kept. */
export interface ClusterConfig {
  readonly natsUrl: string;
  readonly natsCredsFile: string | undefined;
  readonly natsCaFile: string | undefined;
  /** Of the other nodes' certificates. */
  readonly caFile: string | undefined;
  readonly name: string;
  readonly node: string;
  /** Where the other nodes reach this one, without a trailing slash. Its port is 0 if PORT is: the listener's counts. */
  readonly nodeUrl: string;
  readonly replicas: number;
  readonly secret: string;
}

/** PEM files. */
export interface TlsFiles {
  /** The certificate, followed by its chain. */
  readonly certFile: string;
  readonly keyFile: string;
}

export type BillingConfig =
  | { readonly provider: 'local' }
  | {
      readonly provider: 'stripe';
      readonly secretKey: string;
      readonly webhookSecret: string;
      readonly apiUrl: string;
      readonly trialDays: number;
    };

export type CarrierConfig =
  | { readonly provider: 'simulated' | 'none' }
  | {
      readonly provider: 'twilio';
      readonly accountSid: string;
      readonly authToken: string;
      /** A number or a messaging service; null: no SMS. */
      readonly smsFrom: string | null;
      /** A number; null: no outgoing calls. */
      readonly voiceFrom: string | null;
      readonly apiUrl: string;
      readonly pricingUrl: string;
    };

/** An invalid setting. `message` names the variable and says what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

const minSecretChars = 32;

/** An empty variable counts as unset: compose files and units pass unset values on that way. Throws ConfigError. */
export function readConfig(given: Environment): Config {
  const env = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const port = integer(env, 'PORT');
  const tls = tlsFiles(env);
  const baseUrl = url(env, 'BASE_URL', `${tls === undefined ? 'http' : 'https'}://localhost:${port}`);
  const carrier = carrierSettings(env);
  const registration = choice(env, 'REGISTRATION');
  const mailHost = mailHostOf(env, new URL(baseUrl).hostname);
  return {
    port,
    host: env['HOST'] ?? '127.0.0.1',
    dataDir: env['DATA_DIR'] ?? './data',
    baseUrl,
    jwtSecret: secret(env, 'JWT_SECRET'),
    tokenTtlDays: integer(env, 'TOKEN_TTL_DAYS'),
    rateLimitPerMinute: integer(env, 'RATE_LIMIT_PER_MINUTE'),
    rateLimits: choice(env, 'RATE_LIMITS') === 'on',
    trustProxy: proxies(env, 'TRUST_PROXY'),
    maxConnectionsPerNetwork: integer(env, 'MAX_CONNECTIONS_PER_NETWORK'),
    geo: geoSettings(env),
    logLevel: choice(env, 'LOG_LEVEL'),
    autoCloseDays: number(env, 'AUTO_CLOSE_DAYS'),
    registration,
    ceilings: {
      workspacesPerDay: integer(env, 'MAX_WORKSPACES_PER_DAY'),
      mailsPerDay: integer(env, 'MAX_MAILS_PER_DAY'),
      // By its old name if only that is set.
      codesPerDay: integer(env, env['MAX_CODES_PER_DAY'] === undefined ? 'VERIFY_PER_DAY' : 'MAX_CODES_PER_DAY'),
      uploadBytesPerDay: integer(env, 'MAX_UPLOAD_BYTES_PER_DAY'),
      smtpBytesPerDay: integer(env, 'MAX_SMTP_BYTES_PER_DAY'),
      numbers: integer(env, 'MAX_NUMBERS'),
      aiTokensPerDay: integer(env, 'MAX_AI_TOKENS_PER_DAY'),
    },
    verifyCountries: verifyCountries(env, {
      isPaidByOperator: carrier.provider === 'twilio' && registration === 'open',
    }),
    oauthLiveApps: clientIds(env, 'OAUTH_LIVE_APPS'),
    mail: mailSettings(env),
    ai: aiSettings(env),
    mailFrom: address(env, 'MAIL_FROM', `switchboard@${mailHost}`),
    mailKey: mailKey(env),
    mailApps: {
      ...mailApp(env, 'google', 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'),
      ...mailApp(env, 'microsoft', 'MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'),
    },
    carrier,
    mailHost,
    smtp: smtpSettings(env),
    dnsServers: dnsServers(env),
    emailDomainProvider: choice(env, 'EMAIL_DOMAIN_PROVIDER'),
    domainPollSeconds: number(env, 'DOMAIN_POLL_SECONDS'),
    secretsKey: secret(env, 'SECRETS_KEY'),
    allowPrivateCrawl: flag(env, 'ALLOW_PRIVATE_CRAWL'),
    allowPrivateWebhooks: flag(env, 'ALLOW_PRIVATE_WEBHOOKS'),
    embedding: embeddingSettings(env),
    modelHub: url(env, 'HF_ENDPOINT', 'https://huggingface.co'),
    storage: storageSettings(env),
    diskReserveBytes: integer(env, 'DISK_RESERVE_BYTES'),
    storageQuotaBytes: integer(env, 'STORAGE_QUOTA_BYTES'),
    billing: billingSettings(env),
    tls,
    cluster: clusterSettings(env),
  };
}

const clusterNames = settingsOfArea('Several nodes');
/** One token of a subject of NATS. A node's name begins with a letter or a digit: others are not of nodes. */
const clusterName = /^[A-Za-z0-9_-]{1,32}$/;
const nodeName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function clusterSettings(env: Environment): ClusterConfig | undefined {
  const natsUrl = natsAddress(env);
  if (natsUrl === undefined) {
    // Alone, it would serve files of its own beside the cluster's.
    const given = clusterNames.find((name) => env[name] !== undefined);
    if (given !== undefined) throw new ConfigError(`CLUSTER_NATS_URL must be set when ${given} is`);
    return undefined;
  }
  for (const name of ['JWT_SECRET', 'SECRETS_KEY', 'CLUSTER_SECRET'] as const)
    if (secret(env, name) === undefined)
      throw new ConfigError(
        `${name} must be set when CLUSTER_NATS_URL is: at least ${minSecretChars} characters, the same on every node`,
      );
  if (choice(env, 'STORAGE_PROVIDER') === 'disk')
    throw new ConfigError(
      'STORAGE_PROVIDER must be s3 or none when CLUSTER_NATS_URL is set: the other nodes cannot reach files on the disk of this one',
    );
  return {
    natsUrl,
    natsCredsFile: env['CLUSTER_NATS_CREDS'],
    natsCaFile: env['CLUSTER_NATS_CA_FILE'],
    caFile: env['CLUSTER_CA_FILE'],
    name: named(env, 'CLUSTER_NAME', {
      shape: clusterName,
      fallback: 'switchboard',
      rule: '1 to 32 letters, digits, - and _',
    }),
    node: named(env, 'CLUSTER_NODE', {
      shape: nodeName,
      fallback: hostname().replaceAll(/[^A-Za-z0-9_-]/g, '-'),
      rule: '1 to 64 letters, digits, - and _, the first one a letter or a digit',
    }),
    nodeUrl: nodeAddress(env),
    replicas: integer(env, 'CLUSTER_REPLICAS'),
    secret: env['CLUSTER_SECRET'] ?? '',
  };
}

function named(
  env: Environment,
  name: NameOf<'text'>,
  { shape, fallback, rule }: { readonly shape: RegExp; readonly fallback: string; readonly rule: string },
): string {
  const text = env[name] ?? fallback;
  if (!shape.test(text)) throw new ConfigError(`${name} must be ${rule}, not ${text}`);
  return text;
}

/** Its form only: it holds a password, which the message must not repeat. */
function natsAddress(env: Environment): string | undefined {
  const text = env['CLUSTER_NATS_URL'];
  if (text === undefined) return undefined;
  const servers = text.split(',').map((part) => URL.parse(part.trim()));
  const isSound = servers.every((one) => one !== null && /^(?:nats|tls):$/.test(one.protocol) && one.hostname !== '');
  if (!isSound || new Set(servers.map((one) => one?.protocol)).size > 1)
    throw new ConfigError(
      'CLUSTER_NATS_URL must be addresses such as nats://user:password@a.example.com:4222,nats://b.example.com:4222, all with nats:// or all with tls://',
    );
  return text;
}

function nodeAddress(env: Environment): string {
  const host = env['HOST'] ?? '127.0.0.1';
  const port = integer(env, 'PORT');
  if (env['CLUSTER_NODE_URL'] === undefined && isEveryAddress(host))
    throw new ConfigError(
      `CLUSTER_NODE_URL must be set when HOST is ${host}: the address at which the other nodes reach this one, such as http://10.0.0.1:${port}`,
    );
  const scheme = tlsFiles(env) === undefined ? 'http' : 'https';
  const text = url(env, 'CLUSTER_NODE_URL', `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`);
  if (new URL(text).pathname !== '/')
    throw new ConfigError(
      `CLUSTER_NODE_URL must be an address without a path, such as http://10.0.0.1:8080, not ${text}`,
    );
  return text;
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function embeddingSettings(env: Environment): Config['embedding'] {
  const modelDir = env['MODEL_DIR'] || undefined;
  const model = env['EMBEDDING_MODEL'] || undefined;
  if (model === 'none') return { provider: 'none' };
  return model === 'builtin' || (model === undefined && modelDir === undefined)
    ? { provider: 'builtin' }
    : { provider: 'model', model, modelDir };
}

function storageSettings(env: Environment): Config['storage'] {
  const provider = choice(env, 'STORAGE_PROVIDER');
  if (provider !== 's3') return { provider };
  const required = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '') throw new ConfigError(`${name} must be set when STORAGE_PROVIDER is s3`);
    return value;
  };
  const endpoint = required('S3_ENDPOINT');
  const parsed = URL.parse(endpoint);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.pathname !== '/')
    throw new ConfigError(
      `S3_ENDPOINT must be an address such as https://s3.example.com or http://127.0.0.1:9000, not ${endpoint}`,
    );
  return {
    provider,
    endpoint,
    bucket: required('S3_BUCKET'),
    accessKey: required('S3_ACCESS_KEY'),
    secretKey: required('S3_SECRET_KEY'),
    region: env['S3_REGION'] ?? 'us-east-1',
  };
}

function aiSettings(env: Environment): Config['ai'] {
  if (choice(env, 'AI_PROVIDER') === 'none') return { isChosen: env['AI_PROVIDER'] !== undefined, model: undefined };
  const [address = '', name = ''] = [env['AI_URL'], env['AI_MODEL']];
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw new ConfigError('AI_URL must be an address such as http://localhost:11434/v1 when AI_PROVIDER is openai');
  if (name === '') throw new ConfigError('AI_MODEL must name a model when AI_PROVIDER is openai');
  return { isChosen: true, model: { url: address, name, key: env['AI_KEY'] || undefined } };
}

function mailSettings(env: Environment): Config['mail'] {
  const provider = choice(env, 'MAIL_PROVIDER');
  if (provider === 'outbox') return { provider, isChosen: env['MAIL_PROVIDER'] !== undefined };
  const smtpUrl = env['SMTP_URL'] ?? '';
  if (!/^smtps?:$/.test(URL.parse(smtpUrl)?.protocol ?? ''))
    throw new ConfigError(
      'SMTP_URL must be an address such as smtp://user:password@mail.example.com:587 when MAIL_PROVIDER is smtp',
    );
  return { provider, isChosen: true, url: smtpUrl };
}

/** An app that the operator registered with a mail provider. */
function mailApp(env: Environment, provider: keyof Config['mailApps'], id: string, secret: string): Config['mailApps'] {
  const [clientId, clientSecret] = [env[id], env[secret]];
  if (clientId === undefined && clientSecret === undefined) return {};
  if (clientId === undefined || clientSecret === undefined)
    throw new ConfigError(`${id} and ${secret} must be set together`);
  return { [provider]: { clientId, clientSecret } };
}

function mailKey(env: Environment): Config['mailKey'] {
  const selector = env['MAIL_DKIM_SELECTOR'] ?? 'switchboard';
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(selector))
    throw new ConfigError(`MAIL_DKIM_SELECTOR must be a DNS name such as switchboard, not ${selector}`);
  const file = env['MAIL_DKIM_KEY_FILE'];
  return file === undefined ? undefined : { file, selector };
}

function smtpSettings(env: Environment): Config['smtp'] {
  const listen = env['SMTP_LISTEN'] ?? '';
  const certFile = env['SMTP_TLS_CERT'] ?? '';
  const keyFile = env['SMTP_TLS_KEY'] ?? '';
  if ((certFile === '') !== (keyFile === ''))
    throw new ConfigError('SMTP_TLS_CERT and SMTP_TLS_KEY must each name a PEM file and be set together');
  if (listen === '') return undefined;
  const [, address = '', port = ''] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (address === '' || Number(port) > 65_535)
    throw new ConfigError(`SMTP_LISTEN must be an address and a port, such as 0.0.0.0:25, not ${listen}`);
  return {
    host: address.replace(/^\[|\]$/g, ''),
    port: Number(port),
    tls: certFile === '' ? undefined : { certFile, keyFile },
  };
}

function dnsServers(env: Environment): readonly string[] | undefined {
  const text = env['DNS_SERVERS'] ?? '';
  if (text === '') return undefined;
  const servers = text.split(',').map((server) => server.trim());
  for (const server of servers) {
    const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?)$/.exec(server) ?? [];
    if (isIP(bracketed ?? plain ?? server) === 0)
      throw new ConfigError(
        `DNS_SERVERS must be addresses such as 1.1.1.1 or 127.0.0.1:5353, separated by commas, not ${text}`,
      );
  }
  return servers;
}

const hostName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** A host that ends in a number is an IPv4 address, or meant as one (WHATWG URL standard). */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

function isHostName(text: string): boolean {
  return hostName.test(text) && !endsInNumber.test(text);
}

/**
 * The host of BASE_URL may be unable to receive mail, such as an IP address. That matters only to operators who receive
 * mail.
 */
function mailHostOf(env: Environment, baseHost: string): string {
  const text = (env['MAIL_HOST'] ?? '').toLowerCase();
  if (text === '') return isHostName(baseHost) ? baseHost : 'localhost';
  if (!isHostName(text)) throw new ConfigError(`MAIL_HOST must be a host name such as mail.example.com, not ${text}`);
  return text;
}

function tlsFiles(env: Environment): TlsFiles | undefined {
  const certFile = env['TLS_CERT_FILE'];
  const keyFile = env['TLS_KEY_FILE'];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) throw new ConfigError('TLS_CERT_FILE must be set when TLS_KEY_FILE is');
  if (keyFile === undefined) throw new ConfigError('TLS_KEY_FILE must be set when TLS_CERT_FILE is');
  return { certFile, keyFile };
}

function carrierSettings(env: Environment): CarrierConfig {
  const provider = choice(env, 'CARRIER_PROVIDER');
  if (provider !== 'twilio') return { provider };
  return {
    provider,
    accountSid: matching(
      env,
      'TWILIO_ACCOUNT_SID',
      /^AC[0-9a-fA-F]{32}$/,
      'must be AC and 32 hex digits when CARRIER_PROVIDER is twilio',
    ),
    authToken: matching(
      env,
      'TWILIO_AUTH_TOKEN',
      /^\S{16,}$/,
      'must be the auth token of the account when CARRIER_PROVIDER is twilio',
    ),
    smsFrom:
      env['TWILIO_SMS_FROM'] === undefined
        ? null
        : matching(
            env,
            'TWILIO_SMS_FROM',
            /^(\+[1-9]\d{6,14}|MG[0-9a-fA-F]{32})$/,
            'must be a number such as +14155550123 or a messaging service (MG…) when CARRIER_PROVIDER is twilio',
          ),
    voiceFrom: voiceFrom(env),
    apiUrl: url(env, 'TWILIO_API_URL', 'https://api.twilio.com'),
    pricingUrl: url(env, 'TWILIO_PRICING_URL', 'https://pricing.twilio.com'),
  };
}

function billingSettings(env: Environment): BillingConfig {
  const provider = choice(env, 'BILLING_PROVIDER');
  const apiUrl = url(env, 'STRIPE_API_URL', 'https://api.stripe.com');
  const trialDays = integer(env, 'TRIAL_DAYS');
  if (provider === 'local') return { provider };
  return {
    provider,
    secretKey: matching(
      env,
      'STRIPE_SECRET_KEY',
      /^[sr]k_(test|live)_\w+$/,
      'must be a key such as sk_live_… when BILLING_PROVIDER is stripe',
    ),
    webhookSecret: matching(
      env,
      'STRIPE_WEBHOOK_SECRET',
      /^whsec_\S+$/,
      'must be the signing secret of the webhook (whsec_…) when BILLING_PROVIDER is stripe',
    ),
    apiUrl,
    trialDays,
  };
}

/** The SMS number makes calls too, unless another is set. */
function voiceFrom(env: Environment): string | null {
  if (env['TWILIO_VOICE_FROM'] !== undefined)
    return matching(
      env,
      'TWILIO_VOICE_FROM',
      e164,
      'must be a number such as +14155550123 when CARRIER_PROVIDER is twilio',
    );
  return e164.test(env['TWILIO_SMS_FROM'] ?? '') ? (env['TWILIO_SMS_FROM'] ?? null) : null;
}

const e164 = /^\+[1-9]\d{6,14}$/;

function matching(env: Environment, name: string, shape: RegExp, rule: string): string {
  const text = env[name] ?? '';
  // The value may be a secret, so the message does not repeat it.
  if (!shape.test(text)) throw new ConfigError(`${name} ${rule}`);
  return text;
}

/**
 * If strangers could send codes at the operator's cost, only the default countries are allowed until the operator names
 * others.
 */
function verifyCountries(
  env: Environment,
  { isPaidByOperator }: { isPaidByOperator: boolean },
): readonly string[] | undefined {
  const text = env['VERIFY_COUNTRIES'];
  if (text === undefined) return isPaidByOperator ? defaultCountries : undefined;
  if (text.trim() === '*') return undefined;
  const countries = text.split(',').map((part) => part.trim().toUpperCase());
  const wrong = countries.find((country) => !/^[A-Z]{2}$/.test(country));
  if (wrong !== undefined)
    throw new ConfigError(`VERIFY_COUNTRIES must be * or countries such as US,CA,DE (ISO 3166), not ${text}`);
  return [...new Set(countries)];
}

function clientIds(env: Environment, name: string): readonly string[] {
  const ids = (env[name] ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  const wrong = ids.find((id) => !/^app_[A-Za-z0-9_-]+$/.test(id));
  if (wrong !== undefined)
    throw new ConfigError(`${name} must be client ids (app_...) separated by commas, not ${wrong}`);
  return ids;
}

function integer(env: Environment, name: NameOf<'integer'>): number {
  const value = number(env, name);
  if (!Number.isInteger(value)) throw new ConfigError(`${name} must be a whole number, not ${env[name]}`);
  return value;
}

function number(env: Environment, name: NameOf<'integer' | 'number'>): number {
  const { fallback, min, max } = settings[name];
  const text = env[name];
  if (text === undefined) return fallback;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < min || value > max)
    throw new ConfigError(`${name} must be a number from ${min} to ${max}, not ${text}`);
  return value;
}

function choice<Name extends NameOf<'choice'>>(env: Environment, name: Name): ChoiceOf<Name> {
  const { choices, fallback }: { choices: readonly ChoiceOf<Name>[]; fallback: ChoiceOf<Name> } = settings[name];
  return oneOf(env, name, choices, fallback);
}

function flag(env: Environment, name: NameOf<'flag'>): boolean {
  return ['1', 'true', 'on'].includes(oneOf(env, name, ['1', 'true', 'on', '0', 'false', 'off'], 'off'));
}

function oneOf<Choice extends string>(
  env: Environment,
  name: SettingName,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  const text = env[name];
  if (text === undefined) return fallback;
  const found = choices.find((one) => one === text);
  if (found === undefined) throw new ConfigError(`${name} must be one of ${choices.join(', ')}, not ${text}`);
  return found;
}

/** One, where it is only said that there is one. */
function proxies(env: Environment, name: string): number {
  const text = env[name];
  if (text !== undefined && /^[1-9]$/.test(text)) return Number(text);
  const words = ['true', 'on', '0', 'false', 'off'];
  if (text !== undefined && !words.includes(text))
    throw new ConfigError(`${name} must be off, on, or the number of proxies (1 to 9), not ${text}`);
  return text === 'true' || text === 'on' ? 1 : 0;
}

function secret(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (text !== undefined && text.length < minSecretChars)
    throw new ConfigError(`${name} must have at least ${minSecretChars} characters`);
  return text;
}

function address(env: Environment, name: string, fallback: string): string {
  const text = env[name] ?? fallback;
  const [localPart = '', host = '', ...more] = text.split('@');
  if (!/^[^\s<>,"]+$/.test(localPart) || more.length > 0 || !isHostName(domainToASCII(host)))
    throw new ConfigError(`${name} must be a mail address, such as support@example.com, not ${text}`);
  return text;
}

/** The headers of proxies that send the country by default. */
const usualCountryHeaders = ['cf-ipcountry', 'x-vercel-ip-country'];

/** Anyone can send a header, so only those of a trusted proxy are used. */
function geoSettings(env: Environment): Config['geo'] {
  const database = env['GEO_DB'];
  const header = env['GEO_COUNTRY_HEADER']?.toLowerCase();
  const isTrusted = proxies(env, 'TRUST_PROXY') > 0;
  if (header === 'none') return { database, countryHeaders: [] };
  if (header !== undefined && !/^[a-z0-9-]{1,100}$/.test(header))
    throw new ConfigError(
      `GEO_COUNTRY_HEADER must be the name of a header, such as CF-IPCountry, or none, not ${header}`,
    );
  if (header !== undefined && !isTrusted)
    throw new ConfigError(
      'GEO_COUNTRY_HEADER must be used with TRUST_PROXY: without a proxy in front any client could send the header',
    );
  return { database, countryHeaders: header !== undefined ? [header] : isTrusted ? usualCountryHeaders : [] };
}

function url(env: Environment, name: string, fallback: string): string {
  const text = env[name] ?? fallback;
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '')
    throw new ConfigError(`${name} must be an http or https address, not ${text}`);
  return text.replace(/\/+$/, '');
}

/** Limits over hours and days; undefined when none are set. */
export function ceilingsOf({
  rateLimits,
  ceilings,
}: Pick<Config, 'rateLimits' | 'ceilings'>): Config['ceilings'] | undefined {
  return rateLimits ? ceilings : undefined;
}

/**
 * Whether only this machine can reach the service, judging by its settings: behind a proxy, BASE_URL shows otherwise.
 */
export function isForThisMachine({ host, baseUrl }: Pick<Config, 'host' | 'baseUrl'>): boolean {
  return isLoopback(host) && isLoopback(new URL(baseUrl).hostname);
}

/** A name that every machine resolves to itself (RFC 6761 §6.3). */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|(?:.+\.)?localhost)$/.test(host);
}
