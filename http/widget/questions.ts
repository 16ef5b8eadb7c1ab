// Questions beside the conversation: a rating at its end, and an email address in case the visitor leaves. Both are
// optional and show their failures.

import { CallFailed } from './api.ts';
import { h, icon, on } from './dom.ts';
import { fill, type Strings } from './strings.ts';

const bestRating = 5;
const maxCommentChars = 2000;

/** `rate` rejects if it failed; `grown` is called when the form gets taller. */
export function ratingForm(
  strings: Strings,
  { rate, grown }: { rate: (rating: number, comment: string) => Promise<void>; grown: () => void },
): HTMLElement {
  const comment = h('textarea', {
    class: 'field',
    rows: '2',
    maxlength: String(maxCommentChars),
    'aria-label': strings.comment,
    placeholder: strings.comment,
  });
  const more = h('div', { hidden: true }, comment, h('button', { type: 'submit', class: 'primary' }, strings.submit));
  const showMore = (): void => {
    more.hidden = false;
    grown();
  };
  const stars = Array.from({ length: bestRating }, (_, index) => {
    const value = String(index + 1);
    return h(
      'label',
      {},
      on(h('input', { type: 'radio', name: 'rating', value, 'aria-label': fill(strings.stars, { n: value }) }), {
        change: showMore,
      }),
      icon('star'),
    );
  });
  const form = h(
    'form',
    { class: 'card rating' },
    h('fieldset', {}, h('legend', {}, strings.rate), h('div', { class: 'stars' }, ...stars)),
    more,
  );
  return asking(form, strings, async () => {
    const chosen = form.querySelector<HTMLInputElement>('input:checked');
    if (chosen !== null) await rate(Number(chosen.value), comment.value);
  });
}

/** `save` rejects if it failed. */
export function emailForm(
  strings: Strings,
  save: (email: string) => Promise<void>,
): { readonly element: HTMLElement; readonly question: HTMLElement } {
  // No type="email": browsers only accept ASCII addresses. The service validates it.
  const input = h('input', {
    class: 'field',
    inputmode: 'email',
    autocapitalize: 'none',
    spellcheck: 'false',
    autocomplete: 'email',
    required: true,
    maxlength: '254',
    placeholder: strings.emailLabel,
    'aria-label': strings.emailLabel,
  });
  const question = h('p', {}, strings.email);
  const form = h(
    'form',
    { class: 'card' },
    question,
    h('div', { class: 'row' }, input, h('button', { type: 'submit', class: 'primary' }, strings.save)),
  );
  const element = asking(
    form,
    strings,
    async () => {
      await save(input.value.trim());
      form.replaceChildren(h('p', { role: 'status' }, strings.emailSaved));
    },
    strings.checkEmail,
  );
  return { element, question };
}

/** `refused`: the text for an answer that the service refuses. */
function asking(
  form: HTMLFormElement,
  strings: Strings,
  submit: () => Promise<void>,
  refused = strings.failed,
): HTMLElement {
  const problem = h('p', { class: 'problem', role: 'alert' });
  form.append(problem);
  return on(form, {
    submit: async (event) => {
      event.preventDefault();
      problem.textContent = '';
      try {
        await submit();
      } catch (error) {
        problem.textContent = error instanceof CallFailed && error.status === 400 ? refused : strings.failed;
        throw error;
      }
    },
  });
}
