// Pages for people where there is nothing to show: plain HTML that loads nothing. Programs get a JSON error.

import { escapeHtml } from '../../engine/text.ts';
import { pageStyle } from './page-style.ts';

/** Of pages that a flood gets, too. */
const smallStyle =
  ':root{color-scheme:light dark}body{max-width:24rem;margin:12vh auto;padding:1rem;font:16px/1.5 system-ui}';

const missing = 'There is no page here';
const why = 'The address may be mistyped, or the page was removed.';

export const missingPage = document_(missing, `${why}</p>\n<p><a href="/">To Switchboard</a>`, pageStyle);

/** For the customers of a workspace, who do not know this service. */
export const missingHelpPage = document_(missing, why, smallStyle);

export function refusedPage(message: string): string {
  return document_('This page cannot be shown now', escapeHtml(message), smallStyle);
}

function document_(title: string, text: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>`;
}
