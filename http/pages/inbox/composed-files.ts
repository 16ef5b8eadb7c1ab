// The files of unsent messages, by conversation: uploading and uploaded. Uploads continue while another conversation is
// open; finished ones are kept with the draft.

import { type Signal, signal } from '@preact/signals';
import { token } from '../api.ts';
import { messageOf } from '../api-error.ts';
import { notify } from '../notices.ts';
import type { Stop } from '../subscriptions.ts';
import { draftOf } from './drafts.ts';
import type { SentFile } from './timeline.ts';
import { maxFiles, mayHelpToRetry, type Upload, upload } from './uploads.ts';

const kept = new Map<string, ComposedFiles>();
let count = 0;

/** Forgets them when another agent signs in, whose drafts are others. */
export function startComposedFiles(): Stop {
  return token.subscribe(() => {
    for (const files of kept.values()) files.clear();
    kept.clear();
  });
}

export function filesOf(conversationId: string): ComposedFiles {
  let found = kept.get(conversationId);
  if (found === undefined) {
    // Conversations without files are dropped.
    for (const [id, files] of kept) if (files.all.peek().length === 0) kept.delete(id);
    found = new ComposedFiles(draftOf(conversationId)?.attachments ?? []);
    kept.set(conversationId, found);
  }
  return found;
}

export class ComposedFiles {
  readonly all: Signal<readonly Upload[]>;
  readonly #given = new Map<number, { readonly file: File; readonly abort: AbortController }>();

  constructor(arrived: readonly SentFile[]) {
    this.all = signal(
      arrived.map((file) => ({ id: (count += 1), name: file.name, size: file.size, progress: 1, file })),
    );
  }

  get arrived(): readonly SentFile[] {
    return this.all.value.flatMap(({ file }) => (file === undefined ? [] : [file]));
  }

  get isBusy(): boolean {
    return this.all.value.some(({ file, problem }) => file === undefined && problem === undefined);
  }

  add(files: Iterable<File>): void {
    const given = [...files];
    const room = maxFiles - this.all.peek().length;
    if (given.length > room) notify({ kind: 'problem', text: `A message can have at most ${maxFiles} files.` });
    for (const file of given.slice(0, room)) {
      const id = (count += 1);
      this.all.value = [
        ...this.all.peek(),
        { id, name: file.name === '' ? 'file' : file.name, size: file.size, progress: 0, ...pictureOf(file) },
      ];
      this.#begin(id, file);
    }
  }

  retry(id: number): void {
    const known = this.#given.get(id);
    if (known === undefined) return;
    this.dropPicture(id);
    this.all.value = this.all
      .peek()
      .map((one) =>
        one.id === id ? { id, name: one.name, size: one.size, progress: 0, ...pictureOf(known.file) } : one,
      );
    this.#begin(id, known.file);
  }

  /** Also cancels its upload. */
  remove(id: number): void {
    this.#given.get(id)?.abort.abort();
    this.#given.delete(id);
    this.dropPicture(id);
    this.all.value = this.all.peek().filter((one) => one.id !== id);
  }

  /** Its thumbnail cannot be drawn, or is no longer needed. */
  dropPicture(id: number): void {
    const picture = this.all.peek().find((one) => one.id === id)?.picture;
    if (picture === undefined) return;
    URL.revokeObjectURL(picture);
    this.all.value = this.all.peek().map((one) => {
      if (one.id !== id) return one;
      const { picture: _, ...rest } = one;
      return rest;
    });
  }

  clear(): void {
    for (const { id } of this.all.peek()) this.remove(id);
  }

  #begin(id: number, file: File): void {
    const abort = new AbortController();
    this.#given.set(id, { file, abort });
    upload({ file, signal: abort.signal, onProgress: (progress) => this.#change(id, { progress }) }).then(
      (sent) => {
        this.#given.delete(id);
        this.#change(id, { progress: 1, file: sent });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) this.#change(id, { problem: messageOf(error), isFinal: !mayHelpToRetry(error) });
      },
    );
  }

  #change(id: number, changes: Partial<Upload>): void {
    this.all.value = this.all.peek().map((one) => (one.id === id ? { ...one, ...changes } : one));
  }
}

const pictures = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

function pictureOf(file: File): { readonly picture?: string } {
  return pictures.test(file.type) ? { picture: URL.createObjectURL(file) } : {};
}
