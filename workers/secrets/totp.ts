// Codes of authenticator apps (RFC 6238: HMAC-SHA-1, 30 seconds, 6 digits, which every app supports). The only importer
// of otpauth and of uqr, loaded on first use.

export interface TotpSecret {
  /** Base32, as apps accept it by hand. */
  readonly secret: string;
  readonly otpauthUrl: string;
  /** The same as a QR code: a data URL. */
  readonly qrCode: string;
}

export interface Totp {
  /** `bytes` is the secret itself, 20 random bytes. */
  enrol(factor: { bytes: Uint8Array; issuer: string; account: string }): Promise<TotpSecret>;
  /** The time step of the code, at most one before or after now; undefined if none matches. */
  stepOf(check: { secret: string; code: string; nowMs: number }): Promise<number | undefined>;
}

const periodSeconds = 30;
/** Steps before and after the present one that count, for inaccurate clocks and slow typing (RFC 6238 §5.2). */
const driftSteps = 1;
const form = { algorithm: 'SHA1', digits: 6, period: periodSeconds } as const;

export function createTotp(): Totp {
  return {
    async enrol({ bytes, issuer, account }) {
      const [{ Secret, TOTP }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')]);
      const secret = new Secret({ buffer: new Uint8Array(bytes).buffer });
      const otpauthUrl = new TOTP({ ...form, issuer, label: account, secret }).toString();
      return {
        secret: secret.base32,
        otpauthUrl,
        qrCode: `data:image/svg+xml;base64,${Buffer.from(renderSVG(otpauthUrl)).toString('base64')}`,
      };
    },
    async stepOf({ secret, code, nowMs }) {
      const { Secret, TOTP } = await import('otpauth');
      const delta = new TOTP({ ...form, secret: Secret.fromBase32(secret) }).validate({
        token: code,
        timestamp: nowMs,
        window: driftSteps,
      });
      return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta;
    },
  };
}
