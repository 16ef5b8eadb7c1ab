// Work on many workspaces, a few at a time, each once.

export class Limited {
  readonly #max: number;
  readonly #work: (workspaceId: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  #first: string[] = [];

  /** `work` must not reject. */
  constructor(max: number, work: (workspaceId: string) => Promise<void>) {
    this.#max = max;
    this.#work = work;
  }

  /** More than are under way at a time. */
  get isFull(): boolean {
    return this.#waiting.size > 0;
  }

  get isIdle(): boolean {
    return this.#waiting.size + this.#running.size === 0;
  }

  /** Does nothing if it waits or runs already. */
  add(workspaceId: string): void {
    if (this.#running.has(workspaceId)) return;
    this.#waiting.add(workspaceId);
    this.#next();
  }

  /** If it waits, it is next. */
  hurry(workspaceId: string): void {
    if (this.#waiting.has(workspaceId)) this.#first.push(workspaceId);
  }

  clear(): void {
    this.#waiting.clear();
    this.#first = [];
  }

  #next(): void {
    while (this.#running.size < this.#max && this.#waiting.size > 0) {
      const workspaceId = this.#first.shift() ?? this.#waiting.values().next().value;
      if (workspaceId === undefined || !this.#waiting.delete(workspaceId)) continue;
      this.#running.add(workspaceId);
      void this.#work(workspaceId).finally(() => {
        this.#running.delete(workspaceId);
        this.#next();
      });
    }
  }
}
