// Every setting: its values, its default and its meaning. config.ts reads them from the environment, and `npm run docs`
// writes docs/operations/configuration.md from them. Links in a meaning are relative to that page.

interface Described {
  readonly area: Area;
  readonly meaning: string;
  /** The default as the page shows it, if it is not a plain value. */
  readonly shown?: string;
}

interface NumberSetting extends Described {
  readonly kind: 'integer' | 'number';
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

interface ChoiceSetting extends Described {
  readonly kind: 'choice';
  readonly choices: readonly string[];
  readonly fallback: string;
}

interface FlagSetting extends Described {
  readonly kind: 'flag';
}

/** Its form is checked where it is read. */
interface TextSetting extends Described {
  readonly kind: 'text';
  readonly values: string;
}

type Setting = NumberSetting | ChoiceSetting | FlagSetting | TextSetting;

const areas = [
  'Server',
  'Limits',
  'Mail',
  'Calls and codes',
  'Files',
  'Knowledge base',
  'Billing and apps',
  'Several nodes',
] as const;
type Area = (typeof areas)[number];

const [server, limits, mail, calls, files, knowledge, billing, cluster] = areas;
const unlimited = Number.MAX_SAFE_INTEGER;

export const settings = {
  PORT: { area: server, kind: 'integer', fallback: 8080, min: 0, max: 65_535, meaning: 'The port to listen on.' },
  HOST: {
    area: server,
    kind: 'text',
    shown: '127.0.0.1; in the packaged service 0.0.0.0',
    values: 'an address',
    meaning: 'The address to listen on.',
  },
  BASE_URL: {
    area: server,
    kind: 'text',
    shown: '`http://localhost:PORT`, with TLS `https`',
    values: 'an http or https address',
    meaning: 'Where customers and agents reach the server. Links in mails begin with it.',
  },
  DATA_DIR: {
    area: server,
    kind: 'text',
    shown: '`./data`',
    values: 'a folder',
    meaning: 'Holds all data. Only one process can use it at a time.',
  },
  JWT_SECRET: {
    area: server,
    kind: 'text',
    shown: 'created in `DATA_DIR`',
    values: 'at least 32 characters',
    meaning: 'Signs workspace and visitor tokens.',
  },
  SECRETS_KEY: {
    area: server,
    kind: 'text',
    shown: 'created in `DATA_DIR`',
    values: 'at least 32 characters',
    meaning: 'Encrypts secrets that must be used again.',
  },
  TOKEN_TTL_DAYS: {
    area: server,
    kind: 'integer',
    fallback: 7,
    min: 1,
    max: 365,
    meaning: 'How long an unused sign-in lasts. Use extends it, up to 90 days.',
  },
  LOG_LEVEL: {
    area: server,
    kind: 'choice',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    fallback: 'info',
    meaning: '`debug` logs every request.',
  },
  TRUST_PROXY: {
    area: server,
    kind: 'text',
    shown: 'off',
    values: '`on`, `off`, 1 to 9',
    meaning:
      'The number of proxies in front, one behind the other; `on` means 1. The address that the outermost one wrote to `X-Forwarded-For` is trusted ([Behind a proxy](installing.md#behind-a-proxy)).',
  },
  GEO_DB: {
    area: server,
    kind: 'text',
    values: 'an MMDB file',
    meaning:
      'A database of cities or countries that locates visitors. Read again on SIGHUP ([Places](installing.md#places)).',
  },
  GEO_COUNTRY_HEADER: {
    area: server,
    kind: 'text',
    shown: '`CF-IPCountry`, `X-Vercel-IP-Country`',
    values: "a header's name, `none`",
    meaning: "The header in which the proxy sends a visitor's country. Needs `TRUST_PROXY`.",
  },
  TLS_CERT_FILE: {
    area: server,
    kind: 'text',
    values: 'a PEM file',
    meaning: 'The certificate chain. The server then speaks TLS. Read again on SIGHUP.',
  },
  TLS_KEY_FILE: { area: server, kind: 'text', values: 'a PEM file', meaning: "The certificate's private key." },
  DNS_SERVERS: {
    area: server,
    kind: 'text',
    shown: "the system's",
    values: '`9.9.9.9,127.0.0.1:5353`',
    meaning: 'The name servers for every lookup.',
  },
  AUTO_CLOSE_DAYS: {
    area: server,
    kind: 'number',
    fallback: 7,
    min: 0,
    max: 3650,
    meaning: 'Days from solved to closed in a new workspace. Fractions are allowed.',
  },
  REGISTRATION: {
    area: limits,
    kind: 'choice',
    choices: ['open', 'invite', 'off'],
    fallback: 'open',
    meaning:
      'Who can create a workspace after the first: anyone, holders of a code from `switchboard invite`, or no one ([Accounts](accounts.md#who-can-register)).',
  },
  RATE_LIMIT_PER_MINUTE: {
    area: limits,
    kind: 'integer',
    fallback: 600,
    min: 1,
    max: 1_000_000,
    meaning: 'Calls per agent and minute.',
  },
  RATE_LIMITS: {
    area: limits,
    kind: 'choice',
    choices: ['on', 'off'],
    fallback: 'on',
    meaning: '`off` lifts every limit, for load tests.',
  },
  MAX_CONNECTIONS_PER_NETWORK: {
    area: limits,
    kind: 'integer',
    fallback: 1000,
    min: 1,
    max: 50_000,
    meaning:
      "Open connections of one address (an IPv6 `/64`), at most half of all, which are half of the process's file descriptors. Behind a proxy it limits sockets only.",
  },
  MAX_WORKSPACES_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 200,
    min: 1,
    max: 1_000_000,
    meaning: 'Workspaces created without a code in 24 hours, half of them from one network.',
  },
  MAX_MAILS_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 2000,
    min: 1,
    max: 10_000_000,
    meaning:
      'Mails that a workspace sends in 24 hours, a tenth of them to addresses that never wrote to it, and that no mail of a customer named.',
  },
  MAX_AI_TOKENS_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 1_000_000,
    min: 1,
    max: unlimited,
    meaning: 'Tokens of the model of `AI_PROVIDER` that a workspace uses in a day (UTC).',
  },
  MAX_CODES_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 5000,
    min: 1,
    max: 100_000,
    meaning: 'One-time codes that a workspace sends in 24 hours.',
  },
  VERIFY_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 5000,
    min: 1,
    max: 100_000,
    meaning: 'The old name of `MAX_CODES_PER_DAY`.',
  },
  MAX_UPLOAD_BYTES_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 5 * 1024 ** 3,
    min: 0,
    max: unlimited,
    meaning: 'Bytes that the agents and customers of a workspace upload, and imports bring in, in 24 hours.',
  },
  MAX_SMTP_BYTES_PER_DAY: {
    area: limits,
    kind: 'integer',
    fallback: 2 * 1024 ** 3,
    min: 1,
    max: unlimited,
    meaning: 'Bytes of mail accepted by SMTP from one network in 24 hours. A relay at a private address has no limit.',
  },
  MAX_NUMBERS: {
    area: limits,
    kind: 'integer',
    fallback: 20,
    min: 0,
    max: 10_000,
    meaning:
      "A workspace's phone numbers, including those released within 30 days. A workspace that has more keeps them.",
  },
  DISK_RESERVE_BYTES: {
    area: limits,
    kind: 'integer',
    fallback: 256 * 1024 ** 2,
    min: 0,
    max: unlimited,
    meaning:
      'Space on the disk of `DATA_DIR` reserved for messages. Below it, new workspaces, files, crawls and backups are refused; 0 reserves none ([A full disk](monitoring.md#a-full-disk)).',
  },
  ALLOW_PRIVATE_CRAWL: {
    area: limits,
    kind: 'flag',
    meaning:
      'Lets crawls, imports, attachments and pictures of mails reach private addresses, for tests. Logged at start.',
  },
  ALLOW_PRIVATE_WEBHOOKS: {
    area: limits,
    kind: 'flag',
    meaning: "Lets webhooks, push services and workspaces' shops have private addresses. Logged at start.",
  },
  MAIL_PROVIDER: {
    area: mail,
    kind: 'choice',
    choices: ['outbox', 'smtp'],
    fallback: 'outbox',
    meaning: '`outbox` writes each mail to a file under `DATA_DIR/outbox`; `smtp` sends it to `SMTP_URL`.',
  },
  SMTP_URL: {
    area: mail,
    kind: 'text',
    values: '`smtp://…`, `smtps://…`',
    meaning: 'The relay for outgoing mail ([its forms](installing.md#mail)).',
  },
  MAIL_FROM: {
    area: mail,
    kind: 'text',
    shown: '`switchboard@MAIL_HOST`',
    values: 'a mail address',
    meaning: "The sender of the service's own mail.",
  },
  MAIL_HOST: {
    area: mail,
    kind: 'text',
    shown: 'the host of `BASE_URL`, or `localhost` if that is an IP address',
    values: 'a host name',
    meaning: "The host of the workspaces' mail addresses ([Mail](../guide/mail.md)).",
  },
  MAIL_DKIM_KEY_FILE: {
    area: mail,
    kind: 'text',
    values: 'a PEM file',
    meaning: 'A private RSA key that signs mail from `MAIL_HOST` ([Mail](installing.md#mail)).',
  },
  GOOGLE_CLIENT_ID: {
    area: mail,
    kind: 'text',
    values: 'a client id',
    meaning:
      'Of an app registered with Google, by which admins connect mailboxes there ([Mailboxes elsewhere](../guide/mail.md#mailboxes-elsewhere)).',
  },
  GOOGLE_CLIENT_SECRET: { area: mail, kind: 'text', values: 'a client secret', meaning: "The app's secret." },
  MICROSOFT_CLIENT_ID: {
    area: mail,
    kind: 'text',
    values: 'a client id',
    meaning: 'The same for Microsoft.',
  },
  MICROSOFT_CLIENT_SECRET: { area: mail, kind: 'text', values: 'a client secret', meaning: "The app's secret." },
  MAIL_DKIM_SELECTOR: {
    area: mail,
    kind: 'text',
    shown: '`switchboard`',
    values: 'a DNS label',
    meaning: "The key's name in DNS.",
  },
  SMTP_LISTEN: {
    area: mail,
    kind: 'text',
    values: '`0.0.0.0:25`',
    meaning: 'Where mail is accepted by SMTP. Without it, mail arrives by webhook only.',
  },
  SMTP_TLS_CERT: { area: mail, kind: 'text', values: 'a PEM file', meaning: 'Enables STARTTLS. Read again on SIGHUP.' },
  SMTP_TLS_KEY: { area: mail, kind: 'text', values: 'a PEM file', meaning: "The certificate's private key." },
  EMAIL_DOMAIN_PROVIDER: {
    area: mail,
    kind: 'choice',
    choices: ['self', 'none'],
    fallback: 'self',
    meaning: '`none` disables domains of workspaces.',
  },
  DOMAIN_POLL_SECONDS: {
    area: mail,
    kind: 'number',
    fallback: 60,
    min: 1,
    max: 3600,
    meaning:
      "Seconds until a new domain's records are first checked. Each further pause is half again as long, up to an hour.",
  },
  CARRIER_PROVIDER: {
    area: calls,
    kind: 'choice',
    choices: ['simulated', 'twilio', 'none'],
    fallback: 'simulated',
    meaning: 'The carrier of calls and SMS ([Calls](../guide/calls.md)).',
  },
  TWILIO_ACCOUNT_SID: { area: calls, kind: 'text', values: '`AC…`', meaning: 'The Twilio account.' },
  TWILIO_AUTH_TOKEN: {
    area: calls,
    kind: 'text',
    values: 'a token',
    meaning: "The account's token. It also verifies Twilio's webhooks.",
  },
  TWILIO_SMS_FROM: {
    area: calls,
    kind: 'text',
    values: '`+14155550123`, `MG…`',
    meaning: 'The number or messaging service that sends SMS. Without it, no SMS are sent.',
  },
  TWILIO_VOICE_FROM: {
    area: calls,
    kind: 'text',
    shown: '`TWILIO_SMS_FROM` if it is a number',
    values: '`+14155550123`',
    meaning: 'The number that calls out with one-time codes.',
  },
  TWILIO_API_URL: {
    area: calls,
    kind: 'text',
    shown: "Twilio's",
    values: 'an address',
    meaning: 'For a proxy or a test.',
  },
  TWILIO_PRICING_URL: {
    area: calls,
    kind: 'text',
    shown: "Twilio's",
    values: 'an address',
    meaning: 'For a proxy or a test.',
  },
  VERIFY_COUNTRIES: {
    area: calls,
    kind: 'text',
    shown: 'everywhere; `US,CA` with Twilio and `REGISTRATION=open`',
    values: '`*`, `US,CA,DE`',
    meaning: 'Countries that one-time codes can go to by phone, whatever a workspace allows.',
  },
  STORAGE_PROVIDER: {
    area: files,
    kind: 'choice',
    choices: ['disk', 's3', 'none'],
    fallback: 'disk',
    meaning:
      'Where uploaded files are stored ([Files](../guide/files.md)), and with `s3` the snapshots of a cluster ([The bucket](cluster.md#the-bucket)).',
  },
  STORAGE_QUOTA_BYTES: {
    area: files,
    kind: 'integer',
    fallback: 1024 ** 3,
    min: 0,
    max: unlimited,
    meaning: "Bytes of a workspace's team attachments together.",
  },
  S3_ENDPOINT: {
    area: files,
    kind: 'text',
    values: '`https://s3.example.com`',
    meaning: 'A server of the S3 protocol. Required with `s3`, like the next three.',
  },
  S3_BUCKET: { area: files, kind: 'text', values: 'a name', meaning: 'An existing bucket, which must not be public.' },
  S3_ACCESS_KEY: {
    area: files,
    kind: 'text',
    values: 'a key',
    meaning: 'A key that can list the bucket, and read, write and delete objects.',
  },
  S3_SECRET_KEY: { area: files, kind: 'text', values: 'a key', meaning: 'Its secret.' },
  S3_REGION: { area: files, kind: 'text', shown: '`us-east-1`', values: 'a region', meaning: "The bucket's region." },
  AI_PROVIDER: {
    area: knowledge,
    kind: 'choice',
    choices: ['none', 'openai'],
    fallback: 'none',
    meaning:
      'Which language model drafts and summarises for agents: `openai` speaks the chat-completions protocol with the server at `AI_URL`. While it is not set, admins can name a model of their own ([Assistant](../guide/assistant.md)).',
  },
  AI_URL: {
    area: knowledge,
    kind: 'text',
    values: 'an http or https address',
    meaning: 'The base address of the API, such as `http://localhost:11434/v1` for Ollama.',
  },
  AI_MODEL: { area: knowledge, kind: 'text', values: 'a name', meaning: 'The model, by its name there.' },
  AI_KEY: {
    area: knowledge,
    kind: 'text',
    values: 'a key',
    meaning: 'Sent as a bearer token, if the server wants one.',
  },
  EMBEDDING_MODEL: {
    area: knowledge,
    kind: 'text',
    shown: '`builtin`',
    values: "`builtin`, `none`, a model's name or folder",
    meaning: 'The embedding that search uses ([Knowledge base](../guide/knowledge-base.md)).',
  },
  MODEL_DIR: { area: knowledge, kind: 'text', values: 'a folder', meaning: 'A model, or models by name.' },
  HF_ENDPOINT: {
    area: knowledge,
    kind: 'text',
    shown: '`https://huggingface.co`',
    values: 'an address',
    meaning: 'Where `npm run model:pull` downloads from.',
  },
  BILLING_PROVIDER: {
    area: billing,
    kind: 'choice',
    choices: ['local', 'stripe'],
    fallback: 'local',
    meaning: '`local` charges no one ([Billing](../guide/billing.md)).',
  },
  STRIPE_SECRET_KEY: {
    area: billing,
    kind: 'text',
    values: '`sk_live_…`, `rk_live_…`',
    meaning: 'A key of the account.',
  },
  STRIPE_WEBHOOK_SECRET: {
    area: billing,
    kind: 'text',
    values: '`whsec_…`',
    meaning: 'The secret of the endpoint at `/api/v1/billing/webhook`.',
  },
  STRIPE_API_URL: {
    area: billing,
    kind: 'text',
    shown: "Stripe's",
    values: 'an address',
    meaning: 'For a proxy or a test.',
  },
  TRIAL_DAYS: {
    area: billing,
    kind: 'integer',
    fallback: 14,
    min: 1,
    max: 730,
    meaning: 'The trial of a new workspace, with Stripe.',
  },
  OAUTH_LIVE_APPS: {
    area: billing,
    kind: 'text',
    values: '`app_…,app_…`',
    meaning: 'Client ids of the [apps](../api/oauth-apps.md) that every workspace can use.',
  },
  CLUSTER_NATS_URL: {
    area: cluster,
    kind: 'text',
    shown: 'none: this process is alone',
    values: '`nats://user:password@a:4222,nats://b:4222`, `tls://…`',
    meaning:
      'The NATS servers of the cluster ([Several nodes](cluster.md)). The name and password of the first address are used for all.',
  },
  CLUSTER_NATS_CREDS: {
    area: cluster,
    kind: 'text',
    values: 'a file',
    meaning: 'A credentials file of NATS, in place of a name and password.',
  },
  CLUSTER_NATS_CA_FILE: {
    area: cluster,
    kind: 'text',
    values: 'a PEM file',
    meaning: 'The authority that signed the certificates of the NATS servers.',
  },
  CLUSTER_NAME: {
    area: cluster,
    kind: 'text',
    shown: '`switchboard`',
    values: '1 to 32 letters, digits, `-`, `_`',
    meaning: 'Names of streams and buckets in NATS begin with it, so that several clusters can share one NATS.',
  },
  CLUSTER_NODE: {
    area: cluster,
    kind: 'text',
    shown: "the host's name",
    values: '1 to 64 letters, digits, `-`, `_`',
    meaning: 'The name of this node, unique in the cluster.',
  },
  CLUSTER_NODE_URL: {
    area: cluster,
    kind: 'text',
    shown: '`http://HOST:PORT`, with TLS `https`; none if `HOST` is `0.0.0.0` or `::`',
    values: 'an http or https address',
    meaning: 'Where the other nodes reach this one.',
  },
  CLUSTER_CA_FILE: {
    area: cluster,
    kind: 'text',
    values: 'a PEM file',
    meaning:
      'The authority that signed the certificates of the nodes at `https` addresses, in place of the public ones.',
  },
  CLUSTER_REPLICAS: {
    area: cluster,
    kind: 'integer',
    fallback: 3,
    min: 1,
    max: 5,
    meaning: 'Copies of everything in NATS, at most one per server. 1 for a single NATS server.',
  },
  CLUSTER_SECRET: {
    area: cluster,
    kind: 'text',
    values: 'at least 32 characters',
    meaning: 'The nodes know each other by it. In a cluster it is required, and so are `JWT_SECRET` and `SECRETS_KEY`.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof settings;
export type SettingName = keyof Settings;
/** The names of the settings of one kind. */
export type NameOf<Kind extends Setting['kind']> = {
  [Name in SettingName]: Settings[Name]['kind'] extends Kind ? Name : never;
}[SettingName];

/** The values of a choice. */
export type ChoiceOf<Name extends NameOf<'choice'>> = Settings[Name]['choices'][number];

export function settingsOfArea(area: Area): SettingName[] {
  const all = Object.entries(settings) as [SettingName, Setting][];
  return all.filter(([, setting]) => setting.area === area).map(([name]) => name);
}

/** A table for each area. */
export function settingsTables(): string {
  const all: [string, Setting][] = Object.entries(settings);
  return areas
    .map((area) => {
      const rows = all
        .filter(([, setting]) => setting.area === area)
        .map(([name, one]) => `| \`${name}\` | ${defaultOf(one)} | ${valuesOf(one)} | ${one.meaning} |`);
      return `## ${area}\n\n| Setting | Default | Values | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

function defaultOf(setting: Setting): string {
  if (setting.shown !== undefined) return setting.shown;
  switch (setting.kind) {
    case 'integer':
    case 'number':
      return numberText(setting.fallback);
    case 'choice':
      return `\`${setting.fallback}\``;
    case 'flag':
      return 'off';
    case 'text':
      return 'none';
  }
}

function valuesOf(setting: Setting): string {
  switch (setting.kind) {
    case 'integer':
    case 'number':
      return setting.max === unlimited
        ? `bytes, ${setting.min} or more`
        : `${numberText(setting.min)} to ${numberText(setting.max)}`;
    case 'choice':
      return setting.choices.map((choice) => `\`${choice}\``).join(', ');
    case 'flag':
      return '`on`, `off`';
    case 'text':
      return setting.values;
  }
}

function numberText(value: number): string {
  for (const [unit, bytes] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
  ] as const)
    if (value >= bytes && value % bytes === 0) return `${value / bytes} ${unit}`;
  return String(value);
}
