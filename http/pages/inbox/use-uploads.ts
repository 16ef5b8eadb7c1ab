// The files of one composer: those on their way and those that are there.

import { useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { notify } from '../notices.ts';
import type { SentFile } from './timeline.ts';
import { maxFiles, type Upload, upload } from './uploads.ts';

export interface Uploads {
  readonly all: readonly Upload[];
  readonly files: readonly SentFile[];
  readonly isBusy: boolean;
  add(files: Iterable<File>): void;
  retry(id: number): void;
  /** Stops it, too. */
  remove(id: number): void;
  clear(): void;
}

let count = 0;

export function useUploads(initial: readonly SentFile[]): Uploads {
  const [all, setAll] = useState<readonly Upload[]>(() => initial.map((file) => ({ id: (count += 1), name: file.name, size: file.size, progress: 1, file })));
  const under = useRef(new Map<number, { readonly file: File; abort: AbortController }>()).current;
  const change = (id: number, changes: Partial<Upload>): void => setAll((current) => current.map((one) => (one.id === id ? { ...one, ...changes } : one)));

  const begin = (id: number, file: File): void => {
    const abort = new AbortController();
    under.set(id, { file, abort });
    upload({ file, signal: abort.signal, onProgress: (progress) => change(id, { progress }) }).then(
      (sent) => {
        under.delete(id);
        change(id, { progress: 1, file: sent });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) change(id, { problem: messageOf(error) });
      },
    );
  };

  return {
    all,
    files: all.flatMap(({ file }) => (file === undefined ? [] : [file])),
    isBusy: all.some(({ file, problem }) => file === undefined && problem === undefined),
    add(files) {
      const room = maxFiles - all.length;
      const given = [...files];
      if (given.length > room) notify({ kind: 'problem', text: `A message takes ${maxFiles} files.` });
      const made = given.slice(0, room).map((file) => ({ id: (count += 1), name: file.name === '' ? 'file' : file.name, size: file.size, progress: 0, given: file }));
      setAll((current) => [...current, ...made.map(({ given: _, ...one }) => one)]);
      for (const { id, given: file } of made) begin(id, file);
    },
    retry(id) {
      const known = under.get(id);
      if (known === undefined) return;
      setAll((current) => current.map(({ problem: _, ...one }) => (one.id === id ? { ...one, progress: 0 } : { ...one, ...(_ === undefined ? {} : { problem: _ }) })));
      begin(id, known.file);
    },
    remove(id) {
      under.get(id)?.abort.abort();
      under.delete(id);
      setAll((current) => current.filter((one) => one.id !== id));
    },
    clear() {
      for (const { abort } of under.values()) abort.abort();
      under.clear();
      setAll([]);
    },
  };
}
