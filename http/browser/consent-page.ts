// The consent page, where an agent signs in and allows or denies an app, and the page that says why it cannot. Plain
// HTML; its only script asks the browser for a passkey's signature. It works with a keyboard, with a screen reader and
// in any browser that an app opens.

import { escapeHtml } from '../../engine/text.ts';
import { pageStyle } from './page-style.ts';

export interface ConsentPage {
  readonly appName: string;
  /** One sentence per scope. */
  readonly permissions: readonly string[];
  /** The app's host, from its redirect address. */
  readonly destination: string;
  readonly isInDevelopment: boolean;
  /** Sent back unchanged with the answer. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly email: string;
  /** Why the form is shown again. */
  readonly problem: string | undefined;
}

export function consentPage(page: ConsentPage): string {
  const name = escapeHtml(page.appName);
  const hidden = Object.entries(page.parameters).map(
    ([key, value]) => `<input type="hidden" name="${escapeHtml(key)}" value="${escapeHtml(value)}">`,
  );
  const problem = page.problem === undefined ? '' : `<p id="problem" role="alert">${escapeHtml(page.problem)}</p>`;
  const described = page.problem === undefined ? '' : ' aria-describedby="problem"';
  return document_(
    `Allow ${name}?`,
    `<h1>Allow <strong>${name}</strong> to act for you?</h1>
<p>It will be able to:</p>
<ul>
${page.permissions.map((permission) => `<li>${escapeHtml(permission)}</li>`).join('\n')}
</ul>
${page.isInDevelopment ? '<p class="soft">This app is in development: only its own workspace can use it.</p>' : ''}
<form method="post" action="/oauth/authorize">
${hidden.join('\n')}
${problem}
<label for="email">Email</label>
<input id="email" name="email" inputmode="email" autocapitalize="none" spellcheck="false" autocomplete="username" maxlength="254" required value="${escapeHtml(page.email)}"${described}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required${described}>
<button name="decision" value="allow">Sign in and allow</button>
<button name="decision" value="deny" class="quiet" formnovalidate>Do not allow</button>
</form>
<p class="soft">Either answer takes you to <strong>${escapeHtml(page.destination)}</strong>. Allow only an app that you know.</p>`,
  );
}

export interface SecondFactorPage {
  readonly appName: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly question: {
    readonly challenge: string;
    readonly methods: readonly string[];
    readonly passkey: object | null;
  };
  readonly problem: string | undefined;
}

/** `script`: the script that the page runs; undefined for none. */
export function secondFactorPage({ appName, parameters, question, problem }: SecondFactorPage): {
  html: string;
  script: string | undefined;
} {
  const { challenge, methods, passkey } = question;
  const hidden = Object.entries({ ...parameters, challenge }).map(
    ([key, value]) => `<input type="hidden" name="${escapeHtml(key)}" value="${escapeHtml(value)}">`,
  );
  const told = problem === undefined ? '' : `<p id="problem" role="alert">${escapeHtml(problem)}</p>`;
  const described = problem === undefined ? '' : ' aria-describedby="problem"';
  const label = methods.includes('totp') ? 'Code of your authenticator app, or a recovery code' : 'Recovery code';
  const script = passkey === null ? undefined : passkeyScript;
  const byPasskey =
    passkey === null
      ? ''
      : `<input type="hidden" name="passkey" value="">\n<button type="button" id="use-passkey" data-options="${escapeHtml(JSON.stringify(passkey))}">Use a passkey</button>`;
  const html = document_(
    'One more step',
    `<h1>One more step</h1>
<p>Show your second factor to allow <strong>${escapeHtml(appName)}</strong> to act for you.</p>
<form method="post" action="/oauth/authorize">
${hidden.join('\n')}
${told}
${byPasskey}
<label for="code">${label}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="100"${described}>
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="quiet">Do not allow</button>
</form>${script === undefined ? '' : `\n<script>${script}</script>`}`,
  );
  return { html, script };
}

/**
 * Asks the browser for a signature, puts it into the form and submits it. After a failure the page stays, for another
 * try.
 */
const passkeyScript = `
const button = document.getElementById('use-passkey');
const form = button.form;
button.onclick = async () => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(button.dataset.options));
  const answer = await navigator.credentials.get({ publicKey });
  form.elements.passkey.value = JSON.stringify(answer);
  form.requestSubmit(form.querySelector('[value=allow]'));
};
`;

export function consentRefusedPage(message: string): string {
  return document_(
    'This does not work',
    `<h1>This does not work</h1>\n<p role="alert">${escapeHtml(message)}</p>\n<p class="soft">Go back to the app and try again, or tell its makers.</p>`,
  );
}

function document_(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Switchboard</title>
<style>${pageStyle}${consentStyle}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>`;
}

const consentStyle = `
main { width: min(28rem, 100%); overflow-wrap: anywhere; }
p { margin: .75rem 0; }
ul { margin: .5rem 0 1rem; padding-left: 1.25rem; }
.soft { color: var(--soft); font-size: .875rem; }
.quiet { color: var(--ink); background: transparent; border: 1px solid var(--edge); }
`;
