// Questions that many have at the same time: whoever asks gets the answer to one that was asked after that, and those who
// wait for the same share it.

export class SharedQuestions<Answer> {
  readonly #ask: (about: string) => Promise<Answer>;
  readonly #underWay = new Map<string, Promise<Answer>>();
  readonly #next = new Map<string, Promise<Answer>>();

  constructor(ask: (about: string) => Promise<Answer>) {
    this.#ask = ask;
  }

  /** Rejects as the question does. */
  ask(about: string): Promise<Answer> {
    const waiting = this.#next.get(about);
    if (waiting !== undefined) return waiting;
    const underWay = this.#underWay.get(about);
    if (underWay === undefined) return this.#begin(about);
    const begin = (): Promise<Answer> => {
      this.#next.delete(about);
      return this.#begin(about);
    };
    const next = underWay.then(begin, begin);
    this.#next.set(about, next);
    return next;
  }

  #begin(about: string): Promise<Answer> {
    const answer = this.#ask(about).finally(() => {
      if (this.#underWay.get(about) === answer) this.#underWay.delete(about);
    });
    this.#underWay.set(about, answer);
    return answer;
  }
}
