// Why a call of the API failed, for code to branch on and for a reader.

export class ApiError extends Error {
  /** 0 if no response came, and the server may have done it. */
  readonly status: number;
  /** The stable slug to branch on; `unreachable` without a response. */
  readonly slug: string;
  /** Messages by path of the body or the query: `{"password": ["is too short"]}`. */
  readonly fieldErrors: Readonly<Record<string, readonly string[]>>;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(status: number, slug: string, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.slug = slug;
    this.detail = detail;
    const fields = detail['fieldErrors'];
    // The form of decisions, Errors; anything else is ignored.
    this.fieldErrors =
      typeof fields === 'object' && fields !== null ? (fields as Record<string, readonly string[]>) : {};
  }
}

/** The message for a reader. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong.';
}
