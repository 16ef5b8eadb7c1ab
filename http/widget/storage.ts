// Stores the widget's data in the browser under a prefix. Falls back to memory where storage is blocked or full, so that
// everything works until the visitor leaves the page. Nothing else uses localStorage or sessionStorage.

import { guarded } from './guard.ts';

export class BrowserStorage {
  readonly #prefix: string;
  readonly #area: Storage | undefined;
  /** Values that the browser could not store. */
  readonly #memory = new Map<string, string>();

  constructor(area: 'localStorage' | 'sessionStorage', prefix: string) {
    this.#prefix = prefix;
    this.#area = storageOf(area);
  }

  read<Value>(name: string): Value | undefined {
    const key = this.#prefix + name;
    try {
      const text = this.#memory.get(key) ?? this.#area?.getItem(key);
      return text === undefined || text === null ? undefined : (JSON.parse(text) as Value);
    } catch {
      // Not our JSON: treat it as missing.
      return undefined;
    }
  }

  write(name: string, value: unknown): void {
    const key = this.#prefix + name;
    const text = JSON.stringify(value);
    this.#memory.delete(key);
    try {
      if (this.#area === undefined) this.#memory.set(key, text);
      else this.#area.setItem(key, text);
    } catch {
      // Storage is full, or has been blocked since.
      this.#memory.set(key, text);
    }
  }

  remove(name: string): void {
    this.#memory.delete(this.#prefix + name);
    this.#area?.removeItem(this.#prefix + name);
  }

  /** The stored names that start with `start`. */
  names(start: string): string[] {
    const stored = this.#area === undefined ? [] : Object.keys(this.#area);
    const beginning = this.#prefix + start;
    return [...new Set([...this.#memory.keys(), ...stored])]
      .filter((key) => key.startsWith(beginning))
      .map((key) => key.slice(this.#prefix.length));
  }

  /** Calls `listener` when another tab of this browser changes a value. */
  onOtherTab(listener: (name: string) => void): void {
    window.addEventListener(
      'storage',
      guarded((event: StorageEvent) => {
        if (event.storageArea === this.#area && event.key?.startsWith(this.#prefix) === true)
          listener(event.key.slice(this.#prefix.length));
      }),
    );
  }
}

function storageOf(area: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    // Reading the property throws where storage is blocked.
    return window[area];
  } catch {
    return undefined;
  }
}
