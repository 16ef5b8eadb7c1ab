// Debian's Chromium, headless if that package is installed, since it needs half the work to open a page. Without any
// Chromium, tests that need a browser say so and are skipped; .ci/run installs it.

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

/** Why a test is skipped, or false. */
export const noBrowser: string | false =
  executablePath === undefined
    ? `there is neither ${paths.join(' nor ')} on this machine: apt-get install chromium-headless-shell chromium-common`
    : false;

/** Rejects where there is none. */
export async function startBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(String(noBrowser));
  return chromium.launch({ executablePath, args, headless: true });
}
