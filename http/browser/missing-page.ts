// The 404 page for people: plain HTML that loads nothing. Programs get a JSON error.

import { pageStyle } from './page-style.ts';

export const missingPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>There is no page here · Switchboard</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1>There is no page here</h1>
<p>The address may be mistyped, or the page was removed.</p>
<p><a href="/">To Switchboard</a></p>
</main>
</body>
</html>`;
