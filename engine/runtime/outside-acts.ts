// Requests that act outside between their commands: they buy a number, use up a code, ask a language model. Whoever did
// the same again elsewhere would do it twice, so a workspace goes to another node only when those under way are over,
// and new ones wait meanwhile and begin there. For one node of several; what the outbox does is waited for by itself.

import type { Clock } from './clock.ts';
import { Voided } from './lane.ts';
import { NotServed, ServedElsewhere } from './placement.ts';

/** The longest that one may take: a language model's answer (90 s), and its record. */
const longestMs = 100_000;
/** How long a new one waits for its workspace to be away. Its client can repeat it after that. */
const waitMs = 10_000;

export class OutsideActs {
  readonly #clock: Clock;
  readonly #underWay = new Map<string, number>();
  /** Workspaces about to be served by another node, and who waits until they are. */
  readonly #leaving = new Map<string, Set<() => void>>();
  /** Called when the next one is over. */
  readonly #over: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `work` at once, unless the workspace is about to leave. Rejects with ServedElsewhere or NotServed before
   * `work` was called; with Voided if the workspace left while it was under way: then nobody may repeat it unasked.
   */
  async run<Result>(workspaceId: string, work: () => Promise<Result> | Result): Promise<Result> {
    const waiting = this.#leaving.get(workspaceId);
    if (waiting !== undefined) {
      await this.#away(waiting);
      throw new ServedElsewhere(workspaceId);
    }
    this.#underWay.set(workspaceId, (this.#underWay.get(workspaceId) ?? 0) + 1);
    try {
      return await work();
    } catch (error) {
      if (error instanceof ServedElsewhere)
        throw new Voided('the workspace left while a request acted outside', { cause: error });
      throw error;
    } finally {
      const left = (this.#underWay.get(workspaceId) ?? 0) - 1;
      if (left > 0) this.#underWay.set(workspaceId, left);
      else this.#underWay.delete(workspaceId);
      for (const tell of this.#over.splice(0)) tell();
    }
  }

  /** Begins nothing more of this workspace, until forget(). Resolves when what is under way is over, or after a while. */
  async settle(workspaceId: string): Promise<void> {
    if (!this.#leaving.has(workspaceId)) this.#leaving.set(workspaceId, new Set());
    let isTimeUp = false;
    const timer = this.#clock.after(longestMs, () => {
      isTimeUp = true;
      for (const tell of this.#over.splice(0)) tell();
    });
    while (this.#underWay.has(workspaceId) && !isTimeUp) await new Promise<void>((resolve) => this.#over.push(resolve));
    timer.cancel();
  }

  /** The workspace is served here no more. */
  forget(workspaceId: string): void {
    const waiting = this.#leaving.get(workspaceId);
    this.#leaving.delete(workspaceId);
    for (const tell of waiting ?? []) tell();
  }

  /** Resolves when the workspace is away. Rejects with NotServed after a while. */
  #away(waiting: Set<() => void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const tell = (): void => {
        timer.cancel();
        resolve();
      };
      const timer = this.#clock.after(waitMs, () => {
        waiting.delete(tell);
        reject(new NotServed());
      });
      waiting.add(tell);
    });
  }
}
