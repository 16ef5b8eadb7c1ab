// What a failure of an outside part means to its caller. Errors of workers/ extend these classes, so that the edge needs
// to know no provider's own.

/** Not available now; a retry may succeed. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  /** Not a fault: the queue is full. */
  readonly isOverload: boolean = false;
  /** The embedding model, which has an error of its own in the API. */
  readonly isEmbedding: boolean = false;
}

/** Refused permanently; a retry would not help. */
export class Refused extends Error {
  override readonly name: string = 'Refused';
  /** The recipient's address accepts nothing, whatever is sent. */
  readonly isAddress: boolean = false;
}
