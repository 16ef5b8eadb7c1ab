// A folder of a test's own, gone with it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Teardown } from './service.ts';

export function tempFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
