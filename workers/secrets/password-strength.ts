// Estimates how hard a password is to guess, from 0 to 4, with zxcvbn. It is loaded on first use, and the tables that it
// makes of its dictionaries are dropped when it is idle. The only importer of zxcvbn-ts.

export interface PasswordStrength {
  /** `known` are words an attacker would try first: the email, the names. */
  score(password: string, known: readonly string[]): Promise<number>;
}

/**
 * Characters scored. A password of this length is strong or repetitive. Scoring takes time quadratic in the length, on
 * the event loop: 10 ms for these, 20 for a malicious one; a hundred characters would take 120.
 */
const scoredChars = 40;
/** The tables take 4 MB, and 25 ms to make. */
const idleMs = 60_000;

export function createPasswordStrength(): PasswordStrength {
  type Score = (password: string, known: string[]) => number;
  let loading: Promise<Score> | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function load(): Promise<Score> {
    const [core, common] = await Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')]);
    const factory = new core.ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
    return (password, known) => factory.check(password, known).score;
  }

  return {
    async score(password, known) {
      loading ??= load();
      const score = await loading;
      clearTimeout(idle);
      idle = setTimeout(() => (loading = undefined), idleMs).unref();
      return score(password.slice(0, scoredChars), [...known]);
    },
  };
}
