// A disk that really fills up: a small file system, if the machine allows a test to mount one.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Teardown } from './service.ts';

const pageBytes = 4096;
const fillAttempts = 20;

export interface SmallDisk {
  readonly path: string;
  /** Leaves this many bytes free, instantly: the disk is shrunk. */
  fill(options: { leaveBytes: number }): void;
  /** Restores its size. */
  empty(): void;
}

/** Why a small disk is not possible here; false if it is. For tap's `skip`. */
export function noSmallDisk(): string | false {
  try {
    mount(1024 * 1024).remove();
    return false;
  } catch {
    return 'a file system of its own is mounted for this, which this machine does not permit (root on Linux does)';
  }
}

/** Unmounted after the test. */
export function mountSmallDisk(t: Teardown, options: { bytes: number }): SmallDisk {
  const { path, remove } = mount(options.bytes);
  t.teardown(remove);
  return {
    path,
    fill({ leaveBytes }) {
      // Concurrent writes make the new size too small for the content, which is refused.
      for (let attempt = 1; ; attempt += 1) {
        const { blocks, bfree, bsize } = statfsSync(path);
        try {
          resize(path, (blocks - bfree) * bsize + leaveBytes);
          return;
        } catch (error) {
          if (attempt === fillAttempts) throw error;
        }
      }
    },
    empty: () => resize(path, options.bytes),
  };
}

function resize(path: string, bytes: number): void {
  // A size of 0 would mean no limit.
  execFileSync('mount', ['-o', `remount,size=${Math.max(pageBytes, bytes)}`, path], { stdio: 'ignore' });
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
