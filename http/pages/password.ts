// The page where a password is chosen: by an invitation or by a reset link. Works with the keyboard alone and says what the API says.

import { pageStyle } from './style.ts';

export interface PasswordPage {
  readonly title: string;
  readonly action: string;
  /** Where the form is sent, as JSON. */
  readonly path: string;
  readonly secretField: string;
  /** Escaped for an attribute. */
  readonly secret: string;
  readonly passwordField: string;
  readonly asksName: boolean;
}

export function passwordPage(page: PasswordPage): string {
  const name = page.asksName ? '<label for="name">Your name</label><input id="name" name="name" autocomplete="name" maxlength="120">' : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} · Switchboard</title>
<style>${pageStyle}</style>
<script src="/pages/password.js" defer></script>
</head>
<body>
<main>
<h1>${page.title}</h1>
<form data-path="${page.path}">
<input type="hidden" name="${page.secretField}" value="${page.secret}">
${name}
<label for="password">Password</label>
<input id="password" name="${page.passwordField}" type="password" autocomplete="new-password" minlength="10" maxlength="1024" required aria-describedby="hint problem">
<p id="hint">At least 10 characters, and not one that is easy to guess.</p>
<button>${page.action}</button>
<p id="problem" role="alert"></p>
</form>
<p id="done" role="status" hidden>Done. You can sign in now.</p>
</main>
</body>
</html>`;
}

/** Sends the form and shows what came of it. */
export const passwordScript = `'use strict';
const form = document.querySelector('form');
const problem = document.getElementById('problem');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  problem.textContent = '';
  const button = form.querySelector('button');
  button.disabled = true;
  const body = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
  try {
    const response = await fetch(form.dataset.path, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(body) });
    if (response.ok) {
      form.hidden = true;
      document.getElementById('done').hidden = false;
    } else {
      const answer = await response.json();
      problem.textContent = answer.message;
    }
  } catch {
    problem.textContent = 'The service cannot be reached. Try again.';
  }
  button.disabled = false;
});
`;
