// What stands instead of the composer while nobody is there: a question is left with an address, and answered by mail.
// What was written is kept until it is acknowledged, and sent again under the same id, so that it is there once; what
// was changed meanwhile is another question, or the service would answer it with the one that it has.

import { type Api, CallFailed } from './api.ts';
import { button, h, on } from './dom.ts';
import { newId } from './outbox.ts';
import type { Visitor } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';
import { fill, type Strings } from './strings.ts';

export interface AwayFormOptions {
  readonly api: Api;
  readonly strings: Strings;
  /** Of this tab. */
  readonly storage: BrowserStorage;
  readonly visitor: Visitor;
}

interface Written {
  readonly messageId: string;
  readonly body: string;
  /** What was sent under this id, and may have arrived. */
  readonly sent?: string;
}

const maxChars = 10_000;

export class AwayForm {
  readonly element: HTMLElement;
  readonly #text: HTMLTextAreaElement;

  constructor({ api, strings, storage, visitor }: AwayFormOptions) {
    let written = storage.read<Written>('away') ?? { messageId: newId(), body: '' };
    const name = h('input', {
      class: 'field',
      autocomplete: 'name',
      maxlength: '120',
      'aria-label': strings.name,
      placeholder: strings.name,
    });
    // Browsers take addresses in ASCII alone for emails; the service says what is none.
    const email = h('input', {
      class: 'field',
      inputmode: 'email',
      autocapitalize: 'none',
      spellcheck: 'false',
      autocomplete: 'email',
      required: true,
      maxlength: '254',
      'aria-label': strings.emailLabel,
      placeholder: strings.emailLabel,
    });
    name.value = visitor.name ?? '';
    email.value = visitor.email ?? '';
    this.#text = h('textarea', {
      class: 'field',
      rows: '4',
      required: true,
      maxlength: String(maxChars),
      'aria-label': strings.write,
      placeholder: strings.placeholder,
    });
    this.#text.value = written.body;
    const problem = h('p', { class: 'problem', role: 'alert' });
    const submit = h('button', { type: 'submit', class: 'primary' }, strings.leave);
    const form = h('form', {}, h('p', {}, strings.leaveHint), name, email, this.#text, problem, submit);
    const done = h('p', { role: 'status' });
    const again = button({ class: 'quiet' }, strings.leaveAnother, () => this.element.replaceChildren(form));
    this.element = h('div', { class: 'away' }, form);

    on(this.#text, {
      input: () => {
        written = { ...written, body: this.#text.value };
        storage.write('away', written);
      },
    });
    on(form, {
      submit: async (event) => {
        event.preventDefault();
        problem.textContent = '';
        const body = this.#text.value.trim();
        if (body === '' || submit.disabled) return;
        submit.disabled = true;
        const [address, said] = [email.value.trim(), name.value.trim()];
        const question = { body, email: address, ...(said === '' ? {} : { name: said }) };
        const sent = JSON.stringify(question);
        if (written.sent !== undefined && written.sent !== sent) written = { ...written, messageId: newId() };
        written = { ...written, sent };
        storage.write('away', written);
        try {
          await api.call('POST', 'tickets', { messageId: written.messageId, ...question });
          written = { messageId: newId(), body: '' };
          storage.remove('away');
          this.#text.value = '';
          done.textContent = fill(strings.left, { email: address });
          this.element.replaceChildren(done, again);
          again.focus();
        } catch (error) {
          problem.textContent =
            error instanceof CallFailed && error.status === 400 ? strings.checkEmail : strings.failed;
          throw error;
        } finally {
          submit.disabled = false;
        }
      },
    });
  }

  focus(): void {
    this.#text.focus();
  }
}
