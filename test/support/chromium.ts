// Debian's Chromium, headless if that package is installed, since it opens pages in half the time. Without Chromium,
// tests that need a browser are skipped with a message; .ci/run installs it.

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const paths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const executablePath = paths.find(existsSync);

/** The reason to skip a test, or false. */
export const noBrowser: string | false =
  executablePath === undefined
    ? `there is neither ${paths.join(' nor ')} on this machine: apt-get install chromium-headless-shell chromium-common`
    : false;

/** Rejects if there is none. */
export async function startBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(String(noBrowser));
  return chromium.launch({ executablePath, args, headless: true });
}
