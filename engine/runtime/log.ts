/** The engine's log for operators. Fields are plain data, never a secret, a token or a message's text. */
export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
