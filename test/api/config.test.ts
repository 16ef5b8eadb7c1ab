import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../http/process/config.ts';
import { settingNames, unknownSettings } from '../../http/process/setting-names.ts';

t.test('everything runs with nothing set', async (t) => {
  t.same(readConfig({}), {
    port: 8080,
    host: '127.0.0.1',
    dataDir: './data',
    baseUrl: 'http://localhost:8080',
    jwtSecret: undefined,
    tokenTtlDays: 7,
    rateLimitPerMinute: 600,
    rateLimits: true,
    trustProxy: 0,
    maxConnectionsPerNetwork: 1000,
    geo: { database: undefined, countryHeaders: [] },
    logLevel: 'info',
    autoCloseDays: 7,
    mail: { provider: 'outbox', isChosen: false },
    mailFrom: 'switchboard@localhost',
    mailKey: undefined,
    mailApps: {},
    registration: 'open',
    verifyCountries: undefined,
    ceilings: {
      workspacesPerDay: 200,
      mailsPerDay: 2000,
      codesPerDay: 5000,
      uploadBytesPerDay: 5 * 1024 ** 3,
      smtpBytesPerDay: 2 * 1024 ** 3,
      numbers: 20,
      aiTokensPerDay: 1_000_000,
    },
    ai: { isChosen: false, model: undefined },
    oauthLiveApps: [],
    mailHost: 'localhost',
    smtp: undefined,
    dnsServers: undefined,
    emailDomainProvider: 'self',
    domainPollSeconds: 60,
    carrier: { provider: 'simulated' },
    secretsKey: undefined,
    allowPrivateCrawl: false,
    allowPrivateWebhooks: false,
    embedding: { provider: 'builtin' },
    modelHub: 'https://huggingface.co',
    storage: { provider: 'disk' },
    diskReserveBytes: 256 * 1024 ** 2,
    storageQuotaBytes: 1024 ** 3,
    billing: { provider: 'local' },
    cluster: undefined,
  });
});

/** Variable, value, and the resulting settings. */
const good: [string, string, object][] = [
  ['PORT', '0', { port: 0, baseUrl: 'http://localhost:0' }],
  ['PORT', '65535', { port: 65_535, baseUrl: 'http://localhost:65535' }],
  ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
  ['DATA_DIR', '/var/lib/switchboard', { dataDir: '/var/lib/switchboard' }],
  [
    'BASE_URL',
    'https://help.example.com/',
    { baseUrl: 'https://help.example.com', mailFrom: 'switchboard@help.example.com' },
  ],
  ['BASE_URL', 'https://example.com/help//', { baseUrl: 'https://example.com/help' }],
  ['JWT_SECRET', 'x'.repeat(32), { jwtSecret: 'x'.repeat(32) }],
  ['TOKEN_TTL_DAYS', '1', { tokenTtlDays: 1 }],
  ['TOKEN_TTL_DAYS', '365', { tokenTtlDays: 365 }],
  ['RATE_LIMIT_PER_MINUTE', '1', { rateLimitPerMinute: 1 }],
  ['RATE_LIMITS', 'off', { rateLimits: false }],
  ['RATE_LIMITS', 'on', { rateLimits: true }],
  ['TRUST_PROXY', '1', { trustProxy: 1, geo: { countryHeaders: ['cf-ipcountry', 'x-vercel-ip-country'] } }],
  ['TRUST_PROXY', 'true', { trustProxy: 1 }],
  ['TRUST_PROXY', 'on', { trustProxy: 1 }],
  ['TRUST_PROXY', '9', { trustProxy: 9 }],
  ['TRUST_PROXY', '0', { trustProxy: 0 }],
  ['TRUST_PROXY', 'off', { trustProxy: 0 }],
  ['MAX_CONNECTIONS_PER_NETWORK', '1', { maxConnectionsPerNetwork: 1 }],
  ['GEO_DB', '/srv/city.mmdb', { geo: { database: '/srv/city.mmdb', countryHeaders: [] } }],
  ['GEO_COUNTRY_HEADER', 'none', { geo: { countryHeaders: [] } }],
  ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
  ['AUTO_CLOSE_DAYS', '0.5', { autoCloseDays: 0.5 }],
  ['AUTO_CLOSE_DAYS', '0', { autoCloseDays: 0 }],
  ['VERIFY_PER_DAY', '1', { ceilings: { codesPerDay: 1 } }],
  ['MAX_CODES_PER_DAY', '1', { ceilings: { codesPerDay: 1 } }],
  ['MAX_UPLOAD_BYTES_PER_DAY', '0', { ceilings: { uploadBytesPerDay: 0 } }],
  ['MAX_SMTP_BYTES_PER_DAY', '1', { ceilings: { smtpBytesPerDay: 1 } }],
  ['MAX_WORKSPACES_PER_DAY', '1', { ceilings: { workspacesPerDay: 1 } }],
  ['MAX_MAILS_PER_DAY', '1', { ceilings: { mailsPerDay: 1 } }],
  ['MAX_NUMBERS', '0', { ceilings: { numbers: 0 } }],
  ['MAX_AI_TOKENS_PER_DAY', '1', { ceilings: { aiTokensPerDay: 1 } }],
  ['AI_PROVIDER', 'none', { ai: { isChosen: true, model: undefined } }],
  ['REGISTRATION', 'invite', { registration: 'invite' }],
  ['REGISTRATION', 'off', { registration: 'off' }],
  ['OAUTH_LIVE_APPS', 'app_a, app_b-_1,', { oauthLiveApps: ['app_a', 'app_b-_1'] }],
  ['MAIL_PROVIDER', 'outbox', { mail: { provider: 'outbox', isChosen: true } }],
  ['MAIL_FROM', 'help@example.com', { mailFrom: 'help@example.com' }],
  ['BASE_URL', 'http://[::1]:8080', { mailHost: 'localhost' }],
  [
    'BASE_URL',
    'http://203.0.113.5:8080',
    { baseUrl: 'http://203.0.113.5:8080', mailHost: 'localhost', mailFrom: 'switchboard@localhost' },
  ],
  ['MAIL_FROM', 'help@xn--bcher-kva.example', { mailFrom: 'help@xn--bcher-kva.example' }],
  ['BASE_URL', 'https://Desk.Example.com/x', { mailHost: 'desk.example.com' }],
  [
    'MAIL_DKIM_KEY_FILE',
    '/etc/switchboard/dkim.pem',
    { mailKey: { file: '/etc/switchboard/dkim.pem', selector: 'switchboard' } },
  ],
  ['MAIL_HOST', 'Mail.Example.com', { mailHost: 'mail.example.com', mailFrom: 'switchboard@mail.example.com' }],
  ['SMTP_LISTEN', '0.0.0.0:25', { smtp: { host: '0.0.0.0', port: 25, tls: undefined } }],
  ['SMTP_LISTEN', '[::]:2525', { smtp: { host: '::', port: 2525 } }],
  [
    'DNS_SERVERS',
    '1.1.1.1, 127.0.0.1:5353,[::1]:53,::1',
    { dnsServers: ['1.1.1.1', '127.0.0.1:5353', '[::1]:53', '::1'] },
  ],
  ['EMAIL_DOMAIN_PROVIDER', 'none', { emailDomainProvider: 'none' }],
  ['DOMAIN_POLL_SECONDS', '1', { domainPollSeconds: 1 }],
  ['DOMAIN_POLL_SECONDS', '3600', { domainPollSeconds: 3600 }],
  ['SECRETS_KEY', 'x'.repeat(32), { secretsKey: 'x'.repeat(32) }],
  ['ALLOW_PRIVATE_CRAWL', '1', { allowPrivateCrawl: true }],
  ['ALLOW_PRIVATE_WEBHOOKS', '1', { allowPrivateWebhooks: true }],
  ['CARRIER_PROVIDER', 'none', { carrier: { provider: 'none' } }],
  ['VERIFY_COUNTRIES', 'de, AT,DE', { verifyCountries: ['DE', 'AT'] }],
  ['VERIFY_COUNTRIES', '*', { verifyCountries: undefined }],
  ['EMBEDDING_MODEL', 'builtin', { embedding: { provider: 'builtin' } }],
  ['EMBEDDING_MODEL', 'none', { embedding: { provider: 'none' } }],
  [
    'EMBEDDING_MODEL',
    'Xenova/all-MiniLM-L6-v2',
    { embedding: { provider: 'model', model: 'Xenova/all-MiniLM-L6-v2' } },
  ],
  ['MODEL_DIR', '/models', { embedding: { provider: 'model', modelDir: '/models' } }],
  ['HF_ENDPOINT', 'https://hub.example.com/', { modelHub: 'https://hub.example.com' }],
  ['STORAGE_PROVIDER', 'disk', { storage: { provider: 'disk' } }],
  ['STORAGE_PROVIDER', 'none', { storage: { provider: 'none' } }],
  ['STORAGE_QUOTA_BYTES', '0', { storageQuotaBytes: 0 }],
  ['DISK_RESERVE_BYTES', '0', { diskReserveBytes: 0 }],
  ['BILLING_PROVIDER', 'local', { billing: { provider: 'local' } }],
];

const twilio = {
  CARRIER_PROVIDER: 'twilio',
  TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: '0123456789abcdef',
};
const certificate = { SMTP_LISTEN: '127.0.0.1:0', SMTP_TLS_CERT: '/etc/cert.pem', SMTP_TLS_KEY: '/etc/key.pem' };
t.test('a certificate and its key are set together', async (t) => {
  const files = { TLS_CERT_FILE: '/etc/tls/fullchain.pem', TLS_KEY_FILE: '/etc/tls/key.pem' };
  t.match(readConfig(files), {
    tls: { certFile: files.TLS_CERT_FILE, keyFile: files.TLS_KEY_FILE },
    baseUrl: 'https://localhost:8080',
  });
  t.throws(() => readConfig({ TLS_CERT_FILE: files.TLS_CERT_FILE }), {
    name: 'ConfigError',
    message: /^TLS_KEY_FILE must /,
  });
  t.throws(() => readConfig({ TLS_KEY_FILE: files.TLS_KEY_FILE }), {
    name: 'ConfigError',
    message: /^TLS_CERT_FILE must /,
  });
});

t.test('a valid value is accepted', async (t) => {
  for (const [name, value, settings] of good) t.match(readConfig({ [name]: value }), settings, `${name}=${value}`);
  t.match(readConfig(certificate), { smtp: { port: 0, tls: { certFile: '/etc/cert.pem', keyFile: '/etc/key.pem' } } });
  t.match(
    readConfig({
      ...twilio,
      TWILIO_SMS_FROM: '+14155550123',
      TWILIO_API_URL: 'http://127.0.0.1:1',
      TWILIO_PRICING_URL: 'http://127.0.0.1:2',
    }),
    {
      carrier: {
        provider: 'twilio',
        accountSid: twilio.TWILIO_ACCOUNT_SID,
        authToken: twilio.TWILIO_AUTH_TOKEN,
        smsFrom: '+14155550123',
        voiceFrom: '+14155550123',
        apiUrl: 'http://127.0.0.1:1',
        pricingUrl: 'http://127.0.0.1:2',
      },
    },
  );
  t.match(readConfig({ ...twilio, TWILIO_VOICE_FROM: '+14155550199' }), {
    carrier: { smsFrom: null, voiceFrom: '+14155550199' },
  });
  t.throws(() => readConfig({ ...twilio, TWILIO_VOICE_FROM: 'hunter2' }), {
    name: 'ConfigError',
    message: /^TWILIO_VOICE_FROM must /,
  });
  t.match(readConfig({ MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtps://user:secret@mail.example.com:465' }), {
    mail: { provider: 'smtp', url: 'smtps://user:secret@mail.example.com:465' },
  });
  t.match(readConfig({ AI_PROVIDER: 'openai', AI_URL: 'http://localhost:11434/v1', AI_MODEL: 'tiny-1', AI_KEY: 'k' }), {
    ai: { isChosen: true, model: { url: 'http://localhost:11434/v1', name: 'tiny-1', key: 'k' } },
  });
});

const stripe = {
  BILLING_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_live_hunter2',
  STRIPE_WEBHOOK_SECRET: 'whsec_hunter2',
};

t.test('the app of a mail provider needs its id and its secret', async (t) => {
  for (const [provider, id, secret] of [
    ['google', 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
    ['microsoft', 'MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
  ] as const) {
    t.match(readConfig({ [id]: 'app', [secret]: 'hunter2' }), {
      mailApps: { [provider]: { clientId: 'app', clientSecret: 'hunter2' } },
    });
    const message = new RegExp(`^${id} and ${secret} must be set together$`);
    t.throws(() => readConfig({ [id]: 'app' }), { name: 'ConfigError', message });
    t.throws(() => readConfig({ [secret]: 'hunter2' }), { name: 'ConfigError', message });
  }
});

t.test('Stripe needs its keys, and nothing else', async (t) => {
  t.match(readConfig(stripe), {
    billing: {
      provider: 'stripe',
      secretKey: 'sk_live_hunter2',
      webhookSecret: 'whsec_hunter2',
      apiUrl: 'https://api.stripe.com',
      trialDays: 14,
    },
  });
  t.match(readConfig({ ...stripe, TRIAL_DAYS: '30', STRIPE_API_URL: 'http://127.0.0.1:12111' }), {
    billing: { trialDays: 30, apiUrl: 'http://127.0.0.1:12111' },
  });
  for (const change of [
    { STRIPE_SECRET_KEY: undefined },
    { STRIPE_SECRET_KEY: 'pk_live_hunter2' },
    { STRIPE_WEBHOOK_SECRET: undefined },
    { STRIPE_WEBHOOK_SECRET: 'hunter2' },
  ]) {
    t.throws(() => readConfig({ ...stripe, ...change }), {
      name: 'ConfigError',
      message: new RegExp(`^${Object.keys(change)[0]} must `),
    });
  }
});

t.test('a variable that is set to nothing is not set', async (t) => {
  const names = new Set(good.map(([name]) => name));
  t.same(readConfig(Object.fromEntries([...names].map((name) => [name, '']))), readConfig({}));
});

const bad: [string, string][] = [
  ...['x', '-1', '65536', '80.5', '0x50', ' ', '8080 '].map((value): [string, string] => ['PORT', value]),
  ...[
    'example.com',
    'ftp://example.com',
    'https://',
    '/help',
    'https://example.com/?a=1',
    'https://example.com/#a',
  ].map((value): [string, string] => ['BASE_URL', value]),
  ['JWT_SECRET', 'x'.repeat(31)],
  ...['0', '366', '1.5', 'week'].map((value): [string, string] => ['TOKEN_TTL_DAYS', value]),
  ...['0', '-5', '1000001', '2.5', 'many'].map((value): [string, string] => ['RATE_LIMIT_PER_MINUTE', value]),
  ...['no', '0', 'OFF'].map((value): [string, string] => ['RATE_LIMITS', value]),
  ...['yes', '10', '1.5', '-1'].map((value): [string, string] => ['TRUST_PROXY', value]),
  ...['0', '50001', 'x'].map((value): [string, string] => ['MAX_CONNECTIONS_PER_NETWORK', value]),
  // The first of them without a trusted proxy.
  ...['CF-IPCountry', 'CF IPCountry', 'a:b'].map((value): [string, string] => ['GEO_COUNTRY_HEADER', value]),
  ['LOG_LEVEL', 'loud'],
  ...['-1', '3651', 'never', 'Infinity', 'NaN'].map((value): [string, string] => ['AUTO_CLOSE_DAYS', value]),
  ...['0', '100001', '1.5'].map((value): [string, string] => ['VERIFY_PER_DAY', value]),
  ...['0', '100001', '1.5'].map((value): [string, string] => ['MAX_CODES_PER_DAY', value]),
  ...['-1', '1.5', 'much'].map((value): [string, string] => ['MAX_UPLOAD_BYTES_PER_DAY', value]),
  ...['0', '1.5', 'much'].map((value): [string, string] => ['MAX_SMTP_BYTES_PER_DAY', value]),
  ...['0', '1000001', '1.5'].map((value): [string, string] => ['MAX_WORKSPACES_PER_DAY', value]),
  ...['0', '10000001', '1.5'].map((value): [string, string] => ['MAX_MAILS_PER_DAY', value]),
  ...['-1', '10001', '1.5'].map((value): [string, string] => ['MAX_NUMBERS', value]),
  ...['closed', 'OPEN', 'on'].map((value): [string, string] => ['REGISTRATION', value]),
  ...['x', 'app_', 'app_a;app_b'].map((value): [string, string] => ['OAUTH_LIVE_APPS', value]),
  ...['USA', 'US;DE', ',', 'US,*'].map((value): [string, string] => ['VERIFY_COUNTRIES', value]),
  ['MAIL_PROVIDER', 'pigeon'],
  ['CARRIER_PROVIDER', 'pigeon'],
  ['SECRETS_KEY', 'x'.repeat(31)],
  ...['dns.example', '9.9.9.9:x', '999.9.9.9', '9.9.9.9;8.8.8.8'].map((value): [string, string] => [
    'DNS_SERVERS',
    value,
  ]),
  ['ALLOW_PRIVATE_CRAWL', 'yes'],
  ...['hub.example.com', 'ftp://hub.example.com'].map((value): [string, string] => ['HF_ENDPOINT', value]),
  ['STORAGE_PROVIDER', 'ftp'],
  ...['-1', '1.5', 'all'].map((value): [string, string] => ['STORAGE_QUOTA_BYTES', value]),
  ...['-1', '1.5', 'all'].map((value): [string, string] => ['DISK_RESERVE_BYTES', value]),
  ['BILLING_PROVIDER', 'cash'],
  ...['0', '731', '1.5'].map((value): [string, string] => ['TRIAL_DAYS', value]),
  ['STRIPE_API_URL', 'api.stripe.com'],
  ['ALLOW_PRIVATE_WEBHOOKS', 'please'],
  ...[
    'nobody',
    '@example.com',
    'a b@example.com',
    'Help <help@example.com>',
    'help@127.0.0.1',
    'help@[127.0.0.1]',
    'a@b@example.com',
  ].map((value): [string, string] => ['MAIL_FROM', value]),
  ...['a.b', '-a', 'a b'].map((value): [string, string] => ['MAIL_DKIM_SELECTOR', value]),
  ...['not a host', '203.0.113.5', '127.1', '0x7f000001', '[::1]', '::1', 'mail.example.com:25'].map(
    (value): [string, string] => ['MAIL_HOST', value],
  ),
  ...['25', '0.0.0.0:70000', ':25', 'localhost:smtp'].map((value): [string, string] => ['SMTP_LISTEN', value]),
  ...['dns.example', '1.1.1.1,', '1.1.1.1:x'].map((value): [string, string] => ['DNS_SERVERS', value]),
  ['EMAIL_DOMAIN_PROVIDER', 'other'],
  ...['0', '3601', 'soon'].map((value): [string, string] => ['DOMAIN_POLL_SECONDS', value]),
];

t.test('a bad value stops the start with a message that names it', async (t) => {
  for (const [name, value] of bad)
    t.throws(
      () => readConfig({ [name]: value }),
      { name: 'ConfigError', message: new RegExp(`^${name} must `) },
      `${name}=${value}`,
    );
  for (const url of [undefined, 'localhost:11434', 'ftp://ai.example'])
    t.throws(() => readConfig({ AI_PROVIDER: 'openai', AI_MODEL: 'tiny-1', AI_URL: url }), {
      name: 'ConfigError',
      message: /^AI_URL must /,
    });
  t.throws(() => readConfig({ AI_PROVIDER: 'openai', AI_URL: 'http://localhost:11434/v1' }), {
    name: 'ConfigError',
    message: /^AI_MODEL must /,
  });
  for (const url of [undefined, 'mail.example.com', 'https://mail.example.com', '']) {
    t.throws(
      () => readConfig({ MAIL_PROVIDER: 'smtp', SMTP_URL: url }),
      { name: 'ConfigError', message: /^SMTP_URL must / },
      `SMTP_URL=${url}`,
    );
  }
  for (const name of ['SMTP_TLS_CERT', 'SMTP_TLS_KEY'])
    t.throws(
      () => readConfig({ ...certificate, [name]: undefined }),
      { name: 'ConfigError', message: /SMTP_TLS_CERT and SMTP_TLS_KEY/ },
      name,
    );
  for (const [name, value] of [
    ['TWILIO_ACCOUNT_SID', 'AC1'],
    ['TWILIO_AUTH_TOKEN', undefined],
    ['TWILIO_SMS_FROM', '555'],
    ['TWILIO_API_URL', 'x'],
    ['TWILIO_PRICING_URL', 'x'],
  ] as const) {
    t.throws(
      () => readConfig({ ...twilio, [name]: value }),
      { name: 'ConfigError', message: new RegExp(`^${name} must `) },
      name,
    );
  }
});

t.test('a bucket needs all of its settings, and none of them is printed', async (t) => {
  const env = {
    STORAGE_PROVIDER: 's3',
    S3_ENDPOINT: 'http://127.0.0.1:9000',
    S3_BUCKET: 'files',
    S3_ACCESS_KEY: 'key',
    S3_SECRET_KEY: 'hunter2',
  };
  t.same(readConfig(env).storage, {
    provider: 's3',
    endpoint: 'http://127.0.0.1:9000',
    bucket: 'files',
    accessKey: 'key',
    secretKey: 'hunter2',
    region: 'us-east-1',
  });
  t.match(readConfig({ ...env, S3_REGION: 'eu-north-1' }).storage, { region: 'eu-north-1' });
  for (const name of ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY']) {
    t.throws(() => readConfig({ ...env, [name]: '' }), { name: 'ConfigError', message: new RegExp(`^${name} must `) });
  }
  for (const endpoint of ['s3.example.com', 'ftp://s3.example.com', 'https://s3.example.com/files'])
    t.throws(() => readConfig({ ...env, S3_ENDPOINT: endpoint }), { message: /^S3_ENDPOINT must / });
});

const clustered = {
  CLUSTER_NATS_URL: 'nats://shop:hunter2@10.0.0.1:4222,nats://10.0.0.2:4222',
  CLUSTER_SECRET: 'c'.repeat(32),
  JWT_SECRET: 'j'.repeat(32),
  SECRETS_KEY: 's'.repeat(32),
  STORAGE_PROVIDER: 'none',
  CLUSTER_NODE: 'a',
};

t.test('a node of several needs where NATS is, the secrets that all share, and no disk for files', async (t) => {
  t.same(readConfig(clustered).cluster, {
    natsUrl: clustered.CLUSTER_NATS_URL,
    natsCredsFile: undefined,
    natsCaFile: undefined,
    caFile: undefined,
    name: 'switchboard',
    node: 'a',
    nodeUrl: 'http://127.0.0.1:8080',
    replicas: 3,
    secret: 'c'.repeat(32),
  });
  const { CLUSTER_NODE: _, ...unnamed } = clustered;
  t.match(readConfig(unnamed).cluster?.node, /^[A-Za-z0-9][A-Za-z0-9_-]*$/, "the host's name");
  const given = (env: Record<string, string>) => readConfig({ ...clustered, ...env }).cluster;
  t.match(given({ CLUSTER_NATS_CREDS: '/a', CLUSTER_NATS_CA_FILE: '/b', CLUSTER_CA_FILE: '/c' }), {
    natsCredsFile: '/a',
    natsCaFile: '/b',
    caFile: '/c',
  });
  t.match(given({ CLUSTER_NAME: 'eu_1', CLUSTER_REPLICAS: '1' }), { name: 'eu_1', replicas: 1 });
  t.match(given({ HOST: '10.0.0.1', PORT: '80' }), { nodeUrl: 'http://10.0.0.1:80' });
  t.match(given({ HOST: '::1' }), { nodeUrl: 'http://[::1]:8080' });
  t.match(given({ TLS_CERT_FILE: '/c', TLS_KEY_FILE: '/k', HOST: 'a.example' }), { nodeUrl: 'https://a.example:8080' });
  t.match(given({ HOST: '0.0.0.0', CLUSTER_NODE_URL: 'http://10.0.0.1:8080/' }), { nodeUrl: 'http://10.0.0.1:8080' });
  for (const [name, value] of [
    ['JWT_SECRET', ''],
    ['SECRETS_KEY', ''],
    ['CLUSTER_SECRET', ''],
    ['STORAGE_PROVIDER', ''],
    ['STORAGE_PROVIDER', 'disk'],
    ...['http://10.0.0.1', 'a:4222', 'nats://', 'nats://a,', 'nats://a,tls://b'].map((url) => [
      'CLUSTER_NATS_URL',
      url,
    ]),
    ...['a.b', 'a b', 'x'.repeat(33)].map((text) => ['CLUSTER_NAME', text]),
    ...['a.example.com', '-a', 'x'.repeat(65)].map((text) => ['CLUSTER_NODE', text]),
    ...['10.0.0.1:80', 'ftp://a', 'http://a/b'].map((url) => ['CLUSTER_NODE_URL', url]),
    ...['0', '6', '1.5', 'all'].map((text) => ['CLUSTER_REPLICAS', text]),
    ['CLUSTER_SECRET', 'x'.repeat(31)],
  ] as [string, string][])
    t.throws(
      () => readConfig({ ...clustered, [name]: value }),
      { name: 'ConfigError', message: new RegExp(`^${name} must `) },
      `${name}=${value}`,
    );
  for (const host of ['0.0.0.0', '::'])
    t.throws(() => readConfig({ ...clustered, HOST: host }), {
      message: /^CLUSTER_NODE_URL must be set when HOST is /,
    });
  for (const name of settingNames.filter((one) => one.startsWith('CLUSTER_') && one !== 'CLUSTER_NATS_URL'))
    t.throws(
      () => readConfig({ [name]: '1' }),
      { name: 'ConfigError', message: `CLUSTER_NATS_URL must be set when ${name} is` },
      'a node that was meant to be one of several does not serve alone',
    );
});

t.test('a message never holds a secret', async (t) => {
  for (const env of [
    { JWT_SECRET: 'hunter2' },
    { MAIL_PROVIDER: 'smtp', SMTP_URL: 'http://user:hunter2@x.example' },
    { ...stripe, STRIPE_SECRET_KEY: 'hunter2' },
    { ...stripe, STRIPE_WEBHOOK_SECRET: 'hunter2' },
    { ...twilio, TWILIO_AUTH_TOKEN: 'hunter2' },
    { ...clustered, CLUSTER_SECRET: 'hunter2' },
    { ...clustered, CLUSTER_NATS_URL: 'http://shop:hunter2@10.0.0.1' },
  ]) {
    try {
      readConfig(env);
      t.fail('it was taken');
    } catch (error) {
      t.notMatch(String(error), /hunter2/);
    }
  }
});

t.test('every variable that is read is tried above', async (t) => {
  const source = readFileSync(join(import.meta.dirname, '../../http/process/config.ts'), 'utf8');
  const read = new Set([...source.matchAll(/'([A-Z][A-Z0-9_]{3,})'/g)].map(([, name = '']) => name));
  const ofBuckets = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY', 'S3_REGION'];
  const tried = new Set([
    ...ofBuckets,
    ...good.map(([name]) => name),
    ...bad.map(([name]) => name),
    'SMTP_URL',
    'GOOGLE_CLIENT_ID',
    'GOOGLE_CLIENT_SECRET',
    'MICROSOFT_CLIENT_ID',
    'MICROSOFT_CLIENT_SECRET',
    'AI_URL',
    'AI_MODEL',
    'AI_KEY',
    'TLS_CERT_FILE',
    'TLS_KEY_FILE',
    ...Object.keys(certificate),
    ...Object.keys(stripe),
    ...Object.keys(twilio),
    ...Object.keys(clustered),
    'CLUSTER_NATS_CREDS',
    'CLUSTER_NATS_CA_FILE',
    'CLUSTER_CA_FILE',
    'CLUSTER_NAME',
    'CLUSTER_NODE_URL',
    'CLUSTER_REPLICAS',
    'TWILIO_SMS_FROM',
    'TWILIO_VOICE_FROM',
    'TWILIO_API_URL',
    'TWILIO_PRICING_URL',
  ]);
  t.same(
    [...read].filter((name) => !tried.has(name)),
    [],
    'untried',
  );
  t.same(
    [...tried].filter((name) => !read.has(name)),
    [],
  );
});

t.test('every setting that is read has its name in the list, and nothing else has', async (t) => {
  const source = readFileSync(join(import.meta.dirname, '../../http/process/config.ts'), 'utf8');
  const read = new Set(
    [...source.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'/g)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'AC' && name !== 'MG'),
  );
  t.same([...read].sort(), [...settingNames].sort(), 'http/process/setting-names.ts');
});

t.test('a name with two slips is near its setting; another word is not', async (t) => {
  const meant = (name: string): string | undefined => unknownSettings({ [name]: 'x' })[0]?.meant;
  for (const [name, setting] of [
    ['TRUST_PROXI', 'TRUST_PROXY'],
    ['SMPT_URL', 'SMTP_URL'],
    ['BASEURL', 'BASE_URL'],
    ['S3_BUCKETS', 'S3_BUCKET'],
    ['DATADIR', 'DATA_DIR'],
  ] as const)
    t.equal(meant(name), setting, name);
  for (const name of [
    'PATH',
    'HOME',
    'HOSTNAME',
    'SHELL',
    'USER',
    'LANG',
    'TERM',
    'NODE_ENV',
    'NODE_OPTIONS',
    'XDG_DATA_DIRS',
    'PORT',
    'PORTS',
    'SWITCHBOARD_CACHE_DIR',
    'npm_config_cache',
    'MAIL',
    'TMPDIR',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
  ])
    t.equal(meant(name), undefined, name);
});
