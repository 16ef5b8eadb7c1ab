// The page where a password is chosen: by an invitation or by a reset link. Works with the keyboard alone and says what the API says.

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
<style>${style}</style>
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

const style = `
:root { color-scheme: light dark; --ink: #1a1d21; --paper: #f5f7f9; --card: #fff; --line: #c5ccd4; --soft: #5b6470; --accent: #1d4ed8; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --card: #1b2025; --line: #3a424b; --soft: #9aa4b0; --accent: #3b6fe0; --bad: #ff9b90; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
main { width: min(24rem, 100%); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 1rem; font-size: 1.35rem; }
label { display: block; margin-top: .9rem; font-weight: 600; }
input { width: 100%; padding: .6rem .7rem; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .4rem; font: inherit; }
button { width: 100%; margin-top: 1rem; padding: .65rem; color: #fff; background: var(--accent); border: 0; border-radius: .4rem; font: inherit; font-weight: 600; cursor: pointer; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#hint { margin: .4rem 0 0; color: var(--soft); font-size: .875rem; }
#problem { margin: .8rem 0 0; color: var(--bad); min-height: 1.5em; }
`;
