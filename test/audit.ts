// Asks the registry for known vulnerabilities of the packages in use. High and critical ones fail, unless they are
// allowed below with a reason and a last day. A registry without this endpoint is reported and fails nothing. Not part
// of `npm test`, which needs no network: .ci/run calls it.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { failing, type Report } from './support/advisories.ts';

const root = join(import.meta.dirname, '..');
const waitMs = 60_000;

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0'], {
  cwd: root,
  encoding: 'utf8',
  timeout: waitMs,
  shell: process.platform === 'win32',
});
const report = parsed(stdout);
if (report === undefined || report.vulnerabilities === undefined) {
  const why = error?.message ?? report?.message ?? 'it answers nothing that is JSON';
  console.log(`audit: not done, the registry was not asked or does not offer it: ${why}`);
} else {
  const faults = failing(report, new Date());
  for (const fault of faults) console.log(`audit: ${fault}`);
  console.log(
    `audit: ${Object.keys(report.vulnerabilities).length} packages with known faults, ${faults.length} reasons to fail`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}

function parsed(text: string | null): Report | undefined {
  try {
    // npm's own form, of which failing() validates what it needs.
    return JSON.parse(text ?? '') as Report;
  } catch {
    return undefined;
  }
}
