// The folder for what the program can make again: the executable's native parts, and the bundles of a service that runs
// from its sources. Plain JavaScript, like the other modules that http/main.js needs before Node has what strips types.

import { lstatSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * Folders to try, in this order.
 *
 * @returns {string[]}
 */
export function cachePlaces() {
  const given = process.env['SWITCHBOARD_CACHE_DIR'];
  if (given !== undefined && given !== '') return [given];
  const { XDG_CACHE_HOME: xdg, CACHE_DIRECTORY: systemd } = process.env;
  const home = homedir();
  return [
    ...(systemd ? [systemd] : []),
    ...(xdg ? [join(xdg, 'switchboard')] : []),
    ...(home.startsWith('/proc') ? [] : [join(home, '.cache', 'switchboard')]),
    join(tmpdir(), `switchboard-${userInfo().uid}`),
  ];
}

/**
 * Code that another user can write is not loaded: throws unless `folder` is this user's own.
 *
 * @param {string} folder
 */
export function requireOwnFolder(folder) {
  const about = lstatSync(folder);
  if (!about.isDirectory() || about.uid !== userInfo().uid || (about.mode & 0o022) !== 0)
    throw new Error(`${folder} must belong to this user and be writable only by it`);
}
