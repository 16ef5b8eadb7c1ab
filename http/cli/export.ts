// `switchboard export`: writes a workspace as lines of JSON for other programs, while the service runs or not.

import { once } from 'node:events';
import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { workspacePath } from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import { exportedTables, rowCount, rowsOf } from '../../store/operations/tables.ts';
import { programVersion } from '../../workers/program-files.ts';
import { readConfig } from '../process/config.ts';
import { type Command, exitCodes, ProgramError, textOf } from './command.ts';
import { createProgress } from './progress.ts';
import { workspaceNamed } from './workspace-named.ts';

/** Lines are buffered up to this many characters. */
const pieceChars = 256 * 1024;

export const command: Command = {
  usage: 'WORKSPACE [--to FILE]',
  description: `Writes a workspace, given by id or subdomain, as lines of JSON: a first line that describes the export, then one line per
row, {"table": …, "row": {…}}, all as of one moment. Passwords, tokens and sealed secrets are left out.

With the settings of a node of a cluster, it exports what the cluster has, from NATS and the bucket, by a temporary folder (TMPDIR), which needs
twice the room of the workspace.

  --to FILE  write to FILE, readable only by the current user; default: stdout`,
  options: { to: { type: 'string' } },
  operands: { min: 1, max: 1 },
  async run({ values, operands: [name = ''] }) {
    const config = readConfig(process.env);
    const to = textOf(values, 'to');
    if (to !== undefined && existsSync(to)) throw new ProgramError(`${to} already exists`);
    if (config.cluster === undefined) await exportFrom(resolve(config.dataDir), { name, to });
    else {
      // Loaded in a cluster only.
      const { withGatheredWorkspace } = await import('./cluster-gather.ts');
      await withGatheredWorkspace(config, name, (dataDir) => exportFrom(dataDir, { name, to }));
    }
    return exitCodes.done;
  },
};

async function exportFrom(
  dataDir: string,
  { name, to }: { readonly name: string; readonly to: string | undefined },
): Promise<void> {
  const workspace = workspaceNamed(dataDir, name);
  const db = Database.openReader(workspacePath(dataDir, workspace.id));
  try {
    if (to === undefined) await writeRows(db, workspace.id, process.stdout);
    else await writeFileOf(to, (out) => writeRows(db, workspace.id, out));
  } catch (error) {
    // Its reader has seen enough.
    if (to !== undefined || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  } finally {
    db.close();
  }
}

/** The file is whole, or not there. */
async function writeFileOf(to: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const out = createWriteStream(to, { flags: 'wx', mode: 0o600 });
  // Also what fails while nobody waits for it.
  const failed = finished(out);
  try {
    await Promise.race([failed, write(out)]);
    out.end();
    await failed;
  } catch (error) {
    out.destroy();
    rmSync(to, { force: true });
    throw new ProgramError(`${to} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function writeRows(db: Database, workspaceId: string, out: Writable): Promise<void> {
  const progress = createProgress();
  const write = async (text: string): Promise<void> => {
    if (!out.write(text)) await once(out, 'drain');
  };
  try {
    db.beginReading();
    const tables = exportedTables(db);
    const rows = tables.reduce((sum, table) => sum + rowCount(db, table), 0);
    await write(
      `${JSON.stringify({ export: 'workspace', format: 1, program: programVersion(), schema: db.version, workspaceId, exportedAt: new Date().toISOString(), rows })}\n`,
    );
    let done = 0;
    let piece = '';
    for (const table of tables) {
      for (const row of rowsOf(db, table)) {
        piece += `${JSON.stringify({ table, row })}\n`;
        done += 1;
        if (piece.length < pieceChars) continue;
        await write(piece);
        piece = '';
        progress.at(done / rows, table);
      }
    }
    await write(piece);
  } finally {
    progress.end();
  }
}
