// Limits the memory that the edge holds for clients: incomplete bodies, queued requests and frames, replies that are
// not read. There is a limit per network and one in total; a request over either is refused or its connection closed.
// exchange.ts and server.ts use one room per request and per socket.

/** Thirty bodies of the largest size at once, or as many replies of a megabyte. */
const maxBytesOfNetwork = 32 * 1024 * 1024;
const maxBytes = 128 * 1024 * 1024;

/** The memory of one request or socket. */
export interface Room {
  /** False when it would be too much. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** The room of one request or socket. Its network is looked up on first use. */
export class NetworkRoom implements Room {
  readonly #held: HeldBytes;
  readonly #networkOf: () => string;
  #network: string | undefined;
  #reserved = 0;

  constructor(held: HeldBytes, networkOf: () => string) {
    this.#held = held;
    this.#networkOf = networkOf;
  }

  get network(): string {
    return (this.#network ??= this.#networkOf());
  }

  reserve(bytes: number): boolean {
    if (!this.#held.reserve(this.network, bytes)) return false;
    this.#reserved += bytes;
    return true;
  }

  release(bytes: number): void {
    if (bytes === 0) return;
    this.#reserved -= bytes;
    this.#held.release(this.network, bytes);
  }

  releaseAll(): void {
    this.release(this.#reserved);
  }

  /** In bytes. */
  get reserved(): number {
    return this.#reserved;
  }
}

export class HeldBytes {
  readonly #byNetwork = new Map<string, number>();
  #all = 0;

  /** False when it would be too much. */
  reserve(network: string, bytes: number): boolean {
    const held = this.of(network);
    if (held + bytes > maxBytesOfNetwork || this.#all + bytes > maxBytes) return false;
    this.#byNetwork.set(network, held + bytes);
    this.#all += bytes;
    return true;
  }

  release(network: string, bytes: number): void {
    const held = this.of(network) - bytes;
    this.#all -= bytes;
    if (held > 0) this.#byNetwork.set(network, held);
    else this.#byNetwork.delete(network);
  }

  of(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  get all(): number {
    return this.#all;
  }
}
