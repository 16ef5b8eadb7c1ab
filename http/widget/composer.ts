// The composer: text, and files by button, drop or paste. Unsent text survives a change of page.

import type { Api } from './api.ts';
import { button, h, icon, on } from './dom.ts';
import { detached } from './guard.ts';
import { namesOf } from './message-list.ts';
import type { Attachment } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';
import { fill, type Strings } from './strings.ts';
import { maxFiles, upload, uploadProblem } from './uploads.ts';

export interface ComposerOptions {
  readonly api: Api;
  readonly strings: Strings;
  /** This tab's. */
  readonly storage: BrowserStorage;
  send(text: string, attachments: readonly Attachment[]): void;
  typing(): void;
}

interface Chosen {
  readonly element: HTMLElement;
  attachment: Attachment | undefined;
}

const maxChars = 10_000;
const maxHeightPx = 140;

export class Composer {
  readonly element: HTMLFormElement;
  readonly #options: ComposerOptions;
  readonly #text: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #files: HTMLElement;
  readonly #problem: HTMLElement;
  readonly #chosen = new Set<Chosen>();

  constructor(options: ComposerOptions) {
    this.#options = options;
    const { strings } = options;
    this.#text = on(h('textarea', { rows: '1', placeholder: strings.placeholder, 'aria-label': strings.write }), {
      input: () => this.#edited(),
      keydown: (event) => this.#key(event),
      paste: (event) => this.#pasted(event),
    });
    this.#text.value = options.storage.read<string>('text') ?? '';
    this.#send = h('button', { type: 'submit', class: 'round', 'aria-label': strings.send }, icon('send'));
    this.#files = h('ul', { class: 'files' });
    this.#problem = h('p', { class: 'problem', role: 'alert' });
    const picker = h('input', { type: 'file', multiple: true, hidden: true, tabindex: '-1', 'aria-hidden': 'true' });
    on(picker, {
      change: () => {
        this.#take(picker.files);
        picker.value = '';
      },
    });
    const attach = button({ class: 'plain', 'aria-label': strings.attach }, icon('attach'), () => picker.click());
    this.element = on(
      h(
        'form',
        { class: 'composer' },
        this.#files,
        this.#problem,
        h('div', { class: 'row' }, attach, picker, this.#text, this.#send),
      ),
      {
        submit: (event) => {
          event.preventDefault();
          this.#submit();
        },
        dragover: (event) => event.preventDefault(),
        drop: (event) => {
          event.preventDefault();
          this.#take(event.dataTransfer?.files ?? null);
        },
      },
    );
    this.#refresh();
  }

  focus(): void {
    this.#text.focus();
  }

  #edited(): void {
    this.#options.storage.write('text', this.#text.value);
    if (this.#text.value !== '') this.#options.typing();
    this.#refresh();
  }

  #key(event: KeyboardEvent): void {
    // With an input method, Enter also completes a word; on a screen keyboard it is the only way to start a new line.
    const isSend =
      event.key === 'Enter' && !event.shiftKey && !event.isComposing && !matchMedia('(pointer: coarse)').matches;
    if (!isSend) return;
    event.preventDefault();
    this.#submit();
  }

  #pasted(event: ClipboardEvent): void {
    const files = event.clipboardData?.files;
    if (files === undefined || files.length === 0) return;
    event.preventDefault();
    this.#take(files);
  }

  #take(files: FileList | null): void {
    for (const file of files ?? []) if (this.#chosen.size < maxFiles) detached(this.#add(file));
  }

  async #add(file: File): Promise<void> {
    const { strings, api } = this.#options;
    const { name } = file;
    const label = h('span', {}, fill(strings.uploading, { name }));
    const element = h('li', { 'aria-busy': 'true' }, label);
    const chosen: Chosen = { element, attachment: undefined };
    element.append(
      button({ class: 'plain small', 'aria-label': fill(strings.removeFile, { name }) }, icon('close'), () =>
        this.#forget(chosen),
      ),
    );
    this.#chosen.add(chosen);
    this.#files.append(element);
    this.#say('');
    this.#refresh();
    try {
      chosen.attachment = await upload(api, file);
      label.textContent = name;
      element.removeAttribute('aria-busy');
    } catch (error) {
      this.#forget(chosen);
      this.#say(fill(uploadProblem(error, strings), { name }));
    }
    this.#refresh();
  }

  #forget(chosen: Chosen): void {
    this.#chosen.delete(chosen);
    chosen.element.remove();
    this.#refresh();
    this.focus();
  }

  #submit(): void {
    const text = this.#text.value.trim();
    if (text.length > maxChars) {
      this.#say(this.#options.strings.tooLong);
      return;
    }
    if (this.#send.disabled) return;
    const attachments = [...this.#chosen].map((one) => one.attachment).filter((one) => one !== undefined);
    this.#options.send(text === '' ? namesOf(attachments) : text, attachments);
    this.#chosen.clear();
    this.#files.replaceChildren();
    this.#text.value = '';
    this.#options.storage.remove('text');
    this.#say('');
    this.#refresh();
    this.focus();
  }

  #say(problem: string): void {
    this.#problem.textContent = problem;
  }

  #refresh(): void {
    const isUploading = [...this.#chosen].some((one) => one.attachment === undefined);
    this.#send.disabled = isUploading || (this.#text.value.trim() === '' && this.#chosen.size === 0);
    this.#text.style.height = 'auto';
    if (this.#text.scrollHeight > 0) this.#text.style.height = `${Math.min(this.#text.scrollHeight, maxHeightPx)}px`;
  }
}
