// Codes of authenticator apps (RFC 6238: HMAC-SHA-1, 30 seconds, 6 digits, which is what every app can). The only
// importer of otpauth and of uqr, loaded with the first factor.

export interface TotpSecret {
  /** Base32, as apps take it by hand. */
  readonly secret: string;
  readonly otpauthUrl: string;
  /** The same as a picture to scan: a data URL. */
  readonly qrCode: string;
}

export interface Totp {
  /** `bytes` is the secret itself, 20 random ones. */
  enrol(factor: { bytes: Uint8Array; issuer: string; account: string }): Promise<TotpSecret>;
  /** The time step that the code belongs to, one before or after now included; undefined for none of them. */
  stepOf(check: { secret: string; code: string; nowMs: number }): Promise<number | undefined>;
}

const periodSeconds = 30;
/**
 * Steps before and after the present one that count, for clocks that are off and people who are slow (RFC 6238 §5.2).
 */
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
