// The form that replaces the composer while no agent is available: a question with an email address, answered by mail.
// The text is kept until it is acknowledged, and a retry has the same id, so that it is stored once. An edited text gets
// a new id, since the service would answer the old one with the first text.

import { type Api, CallFailed } from './api.ts';
import { button, h, on } from './dom.ts';
import { newId } from './outbox.ts';
import type { Visitor } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';
import { fill, type Strings } from './strings.ts';

export interface AwayFormOptions {
  readonly api: Api;
  readonly strings: Strings;
  /** This tab's. */
  readonly storage: BrowserStorage;
}

interface Written {
  readonly messageId: string;
  readonly body: string;
  /** The text sent with this id, which may have arrived. */
  readonly sent?: string;
}

const maxChars = 10_000;

export class AwayForm {
  readonly element: HTMLElement;
  readonly #text: HTMLTextAreaElement;
  /** Fills in what the visitor or its page has given, unless it wrote something else. */
  readonly knows: (visitor: Visitor) => void;

  constructor({ api, strings, storage }: AwayFormOptions) {
    let written = storage.read<Written>('away') ?? { messageId: newId(), body: '' };
    const name = h('input', {
      class: 'field',
      autocomplete: 'name',
      maxlength: '120',
      'aria-label': strings.name,
      placeholder: strings.name,
    });
    // No type="email": browsers only accept ASCII addresses. The service validates it.
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
    let known: Visitor | undefined;
    this.knows = (visitor) => {
      if (visitor === known) return;
      known = visitor;
      name.value ||= visitor.name ?? '';
      email.value ||= visitor.email ?? '';
    };
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
