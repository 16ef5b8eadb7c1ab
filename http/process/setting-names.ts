// The names of all settings, for who lists them or guesses which one was meant. config.ts reads them; a test holds one
// against the other.

export const settingNames = [
  'PORT',
  'HOST',
  'BASE_URL',
  'DATA_DIR',
  'JWT_SECRET',
  'SECRETS_KEY',
  'TOKEN_TTL_DAYS',
  'LOG_LEVEL',
  'TRUST_PROXY',
  'GEO_DB',
  'GEO_COUNTRY_HEADER',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'RATE_LIMIT_PER_MINUTE',
  'RATE_LIMITS',
  'MAX_CONNECTIONS_PER_NETWORK',
  'AUTO_CLOSE_DAYS',
  'MAIL_PROVIDER',
  'SMTP_URL',
  'MAIL_FROM',
  'MAIL_HOST',
  'MAIL_DKIM_KEY_FILE',
  'MAIL_DKIM_SELECTOR',
  'SMTP_LISTEN',
  'SMTP_TLS_CERT',
  'SMTP_TLS_KEY',
  'MAX_SMTP_BYTES_PER_DAY',
  'EMAIL_DOMAIN_PROVIDER',
  'DOMAIN_POLL_SECONDS',
  'DNS_SERVERS',
  'STORAGE_PROVIDER',
  'STORAGE_QUOTA_BYTES',
  'DISK_RESERVE_BYTES',
  'MAX_UPLOAD_BYTES_PER_DAY',
  'S3_ENDPOINT',
  'S3_BUCKET',
  'S3_ACCESS_KEY',
  'S3_SECRET_KEY',
  'S3_REGION',
  'CARRIER_PROVIDER',
  'TWILIO_ACCOUNT_SID',
  'TWILIO_AUTH_TOKEN',
  'TWILIO_SMS_FROM',
  'TWILIO_VOICE_FROM',
  'TWILIO_API_URL',
  'TWILIO_PRICING_URL',
  'VERIFY_PER_DAY',
  'BILLING_PROVIDER',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_API_URL',
  'TRIAL_DAYS',
  'EMBEDDING_MODEL',
  'MODEL_DIR',
  'HF_ENDPOINT',
  'OAUTH_LIVE_APPS',
  'REGISTRATION',
  'MAX_WORKSPACES_PER_DAY',
  'MAX_MAILS_PER_DAY',
  'MAX_CODES_PER_DAY',
  'MAX_NUMBERS',
  'VERIFY_COUNTRIES',
  'ALLOW_PRIVATE_CRAWL',
  'ALLOW_PRIVATE_WEBHOOKS',
] as const;

const known: ReadonlySet<string> = new Set(settingNames);
/** What others read, though it looks like a slip: where OpenSSL finds whom to trust. */
const ofOthers: ReadonlySet<string> = new Set(['SSL_CERT_FILE', 'SSL_CERT_DIR']);
/** Letters that a slip changes, adds, leaves out or swaps. */
const maxSlips = 2;
/** Shorter names are near to too many others. */
const minGuessed = 6;

/** Variables that are named almost like a setting, and are none. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): { name: string; meant: string }[] {
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || ofOthers.has(name) || !/^[A-Z][A-Z0-9_]+$/.test(name)) return [];
    const [nearest] = settingNames
      .filter((setting) => setting.length >= minGuessed && Math.abs(setting.length - name.length) <= maxSlips)
      .map((setting) => ({ meant: setting, slips: slipsBetween(name, setting) }))
      .sort((a, b) => a.slips - b.slips);
    return nearest === undefined || nearest.slips > maxSlips ? [] : [{ name, meant: nearest.meant }];
  });
}

/** Damerau's distance, with neighbours swapped as one slip. */
function slipsBetween(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isSwap ? Math.min(cost, (before[j - 2] ?? 0) + 1) : cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
