// Requests that act outside between their commands: they buy a number, use up a code, ask a language model. Whoever did
// the same again elsewhere would do it twice, so a workspace goes to another node only when those under way are over,
// and new ones wait meanwhile and begin there. Only for a node of several; the outbox waits for its own work.

import type { Clock } from './clock.ts';
import { Voided } from './lane.ts';
import { NotServed, ServedElsewhere } from './placement.ts';

/** The longest that one may take: a language model's answer (90 s), and its record. */
const longestMs = 100_000;
/** How long a new one waits for its workspace to be away. Others may take longer, so that it begins here after that. */
const waitMs = 10_000;
/** Of all workspaces. Each is a request that is kept open. */
const maxWaiting = 2000;

/** A workspace, from when it is served until it is served no more. */
interface Term {
  /** `settling`: it is about to leave. `settled`: nothing begins any more. */
  state: 'serving' | 'settling' | 'settled';
  underWay: number;
  /** Who waits until it is away. */
  readonly waiting: Set<() => void>;
  /** Called when the last one under way is over, or the workspace is lost. */
  over: () => void;
}

export class OutsideActs {
  readonly #clock: Clock;
  readonly #terms = new Map<string, Term>();
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `work` at once, unless the workspace is about to leave. Rejects with ServedElsewhere or NotServed before
   * `work` was called; with Voided if the workspace left while it was under way: then nobody may repeat it unasked.
   */
  async run<Result>(workspaceId: string, work: () => Promise<Result> | Result): Promise<Result> {
    const term = this.#termOf(workspaceId);
    if (term.state !== 'serving') {
      if (await this.#isAway(term)) throw new ServedElsewhere(workspaceId);
      if (term.state === 'settled') throw new NotServed();
    }
    term.underWay += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof ServedElsewhere)
        throw new Voided('the workspace left while a request acted outside', { cause: error });
      throw error;
    } finally {
      term.underWay -= 1;
      if (term.underWay === 0) {
        term.over();
        if (term.state === 'serving' && this.#terms.get(workspaceId) === term) this.#terms.delete(workspaceId);
      }
    }
  }

  /** Begins nothing more of this workspace, until forget(). Resolves when what is under way is over, or after a while. */
  async settle(workspaceId: string): Promise<void> {
    const term = this.#termOf(workspaceId);
    if (term.underWay === 0) term.state = 'settled';
    if (term.state === 'settled') return;
    term.state = 'settling';
    await new Promise<void>((resolve) => {
      const others = term.over;
      term.over = () => {
        term.state = 'settled';
        timer.cancel();
        resolve();
        others();
      };
      const timer = this.#clock.after(longestMs, term.over);
    });
  }

  /** The workspace is served here no more. */
  forget(workspaceId: string): void {
    const term = this.#terms.get(workspaceId);
    if (term === undefined) return;
    this.#terms.delete(workspaceId);
    term.over();
    for (const tell of term.waiting) tell();
  }

  #termOf(workspaceId: string): Term {
    let term = this.#terms.get(workspaceId);
    if (term === undefined) {
      term = { state: 'serving', underWay: 0, waiting: new Set(), over: () => {} };
      this.#terms.set(workspaceId, term);
    }
    return term;
  }

  /** True once the workspace is away; false if it is still here after a while. Rejects with NotServed if too many wait. */
  async #isAway({ waiting }: Term): Promise<boolean> {
    if (this.#waiting >= maxWaiting) throw new NotServed();
    this.#waiting += 1;
    const isAway = await new Promise<boolean>((resolve) => {
      const tell = (): void => {
        timer.cancel();
        resolve(true);
      };
      const timer = this.#clock.after(waitMs, () => {
        waiting.delete(tell);
        resolve(false);
      });
      waiting.add(tell);
    });
    this.#waiting -= 1;
    return isAway;
  }
}
