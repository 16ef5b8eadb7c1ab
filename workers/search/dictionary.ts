// A dictionary for misspelt words: each is stored under the hash of itself and of itself without each of its letters,
// so that a word one typo away is found with a few lookups. Shared by all fields of an index.

import type { Database } from '../../store/database.ts';
import { insertSpelling, isSpelled, wordsSpelled } from '../../store/search/index.ts';
import { canBeMisspelt, isMisspelt, spellings } from './words.ts';

export class Dictionary {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns the number of rows written. */
  learn(word: string): number {
    if (!canBeMisspelt(word)) return 0;
    const hashes = spellings(word);
    if (isSpelled(this.#db, hashes[0] ?? 0, word)) return 0;
    for (const hash of hashes) insertSpelling(this.#db, hash, word);
    return hashes.length;
  }

  /** Words in the file that are one typo away. */
  spelledAlike(word: string): string[] {
    if (!canBeMisspelt(word)) return [];
    return wordsSpelled(this.#db, spellings(word)).filter((known) => isMisspelt(word, known));
  }
}
