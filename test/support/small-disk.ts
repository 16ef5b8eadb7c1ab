// A disk that is really full: a small file system of its own, where the machine lets a test mount one.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Teardown } from './service.ts';

export interface SmallDisk {
  readonly path: string;
  /** Leaves so many bytes free. */
  fill(options: { leaveBytes: number }): void;
  /** Gives back what fill() took. */
  empty(): void;
}

/** Why there can be no small disk here; false when there can. What tap takes as `skip`. */
export function noSmallDisk(): string | false {
  try {
    mount(1024 * 1024).remove();
    return false;
  } catch {
    return 'a file system of its own is mounted for this, which this machine does not permit (root on Linux does)';
  }
}

/** Gone when the test is over. */
export function mountSmallDisk(t: Teardown, options: { bytes: number }): SmallDisk {
  const { path, remove } = mount(options.bytes);
  t.teardown(remove);
  const filler = join(path, 'filler');
  return {
    path,
    fill({ leaveBytes }) {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
    },
    empty: () => rmSync(filler, { force: true }),
  };
}

function mount(bytes: number): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    path,
    remove() {
      execFileSync('umount', ['--lazy', path]);
      rmdirSync(path);
    },
  };
}
