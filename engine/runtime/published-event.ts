// An event for sockets, live or read again. Its data exists as a record and as text, each made only if someone asks:
// most events are for no one who listens.

export class PublishedEvent {
  readonly seq: number;
  readonly type: string;
  /** ISO. */
  readonly at: string;
  readonly conversationId: string | null;
  /** Who may receive it. Only the engine's rules know its members. */
  readonly audience: object;
  readonly #source: string | (() => object);
  #data: object | undefined;
  #text: string | undefined;

  /** `source`: the data as JSON, or a function that makes it. */
  constructor(
    about: Pick<PublishedEvent, 'seq' | 'type' | 'at' | 'conversationId' | 'audience'>,
    source: string | (() => object),
  ) {
    this.seq = about.seq;
    this.type = about.type;
    this.at = about.at;
    this.conversationId = about.conversationId;
    this.audience = about.audience;
    this.#source = source;
  }

  /** The public record under its name. Shared, so it is never changed. */
  get data(): object {
    // Written by emit() as an object.
    this.#data ??= typeof this.#source === 'string' ? (JSON.parse(this.#source) as object) : this.#source();
    return this.#data;
  }

  /** The data as JSON. */
  get dataText(): string {
    this.#text ??= typeof this.#source === 'string' ? this.#source : JSON.stringify(this.data);
    return this.#text;
  }
}
