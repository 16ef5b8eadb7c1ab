// What the widget keeps in the browser, under names of its own. Where storage is blocked or full it keeps it in memory,
// so that everything works until the page is left. Nothing else touches localStorage and sessionStorage.

import { guarded } from './guard.ts';

export class Shelf {
  readonly #prefix: string;
  readonly #storage: Storage | undefined;
  /** What storage did not take. */
  readonly #memory = new Map<string, string>();

  constructor(area: 'localStorage' | 'sessionStorage', prefix: string) {
    this.#prefix = prefix;
    this.#storage = storageOf(area);
  }

  read<Value>(name: string): Value | undefined {
    const key = this.#prefix + name;
    try {
      const text = this.#memory.get(key) ?? this.#storage?.getItem(key);
      return text === undefined || text === null ? undefined : (JSON.parse(text) as Value);
    } catch {
      // Somebody else wrote there: as good as nothing.
      return undefined;
    }
  }

  write(name: string, value: unknown): void {
    const key = this.#prefix + name;
    const text = JSON.stringify(value);
    this.#memory.delete(key);
    try {
      if (this.#storage === undefined) this.#memory.set(key, text);
      else this.#storage.setItem(key, text);
    } catch {
      // Full, or blocked by now.
      this.#memory.set(key, text);
    }
  }

  remove(name: string): void {
    this.#memory.delete(this.#prefix + name);
    this.#storage?.removeItem(this.#prefix + name);
  }

  /** The names that begin so. */
  names(start: string): string[] {
    const stored = this.#storage === undefined ? [] : Object.keys(this.#storage);
    const beginning = this.#prefix + start;
    return [...new Set([...this.#memory.keys(), ...stored])]
      .filter((key) => key.startsWith(beginning))
      .map((key) => key.slice(this.#prefix.length));
  }

  /** Another tab of this browser changed something. */
  onOtherTab(listener: (name: string) => void): void {
    window.addEventListener(
      'storage',
      guarded((event: StorageEvent) => {
        if (event.storageArea === this.#storage && event.key?.startsWith(this.#prefix) === true)
          listener(event.key.slice(this.#prefix.length));
      }),
    );
  }
}

function storageOf(area: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    // The access alone throws where storage is blocked.
    return window[area];
  } catch {
    return undefined;
  }
}
