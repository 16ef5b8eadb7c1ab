// The command line: finds the command, answers --help, parses options, and turns errors into a line and an exit code.
// Each command is loaded on demand, so that none pays for the others.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../process/config.ts';
import { type Command, exitCodes, outliveReaders, ProgramError, say } from './command.ts';

interface Listed {
  readonly words: readonly string[];
  readonly summary: string;
  /** On the data folder of a server alone; with the settings of a node, on what the cluster has, unless it is refused. */
  readonly worksOnFolder?: true;
  /** Why it is refused to a node of a cluster, and what to do instead. */
  readonly refusedToNodes?: string;
  load(): Promise<{ readonly command: Command }>;
}

const restoredAlone =
  'it works on the data folder of a server alone. Without CLUSTER_… settings it restores into an empty DATA_DIR, also one workspace beside the others, and switchboard cluster import brings that folder into a new cluster, under another CLUSTER_NAME (Going back to one server, in docs/operations/cluster.md)';

const commands: readonly Listed[] = [
  {
    words: ['serve'],
    summary: 'run the service until SIGTERM; the default command',
    load: () => import('./serve.ts'),
  },
  {
    words: ['backup'],
    summary: 'back up all data or one workspace, while the service runs',
    load: () => import('./backup.ts'),
  },
  {
    words: ['restore'],
    summary: 'restore a backup',
    worksOnFolder: true,
    refusedToNodes: restoredAlone,
    load: () => import('./restore.ts'),
  },
  {
    words: ['verify'],
    summary: 'check the data for consistency',
    worksOnFolder: true,
    load: () => import('./verify.ts'),
  },
  {
    words: ['repair'],
    summary: 'rebuild directory.db from the workspaces, accept changed keys',
    worksOnFolder: true,
    refusedToNodes:
      "a node's folder holds copies, and the log sets them right: stop the node, remove its DATA_DIR and start it again. switchboard verify checks what the cluster has; what that has lost comes back from a backup (Going back to one server, in docs/operations/cluster.md)",
    load: () => import('./repair.ts'),
  },
  {
    words: ['export'],
    summary: 'export a workspace as lines of JSON',
    worksOnFolder: true,
    load: () => import('./export.ts'),
  },
  {
    words: ['erase'],
    summary: 'permanently remove a contact or a workspace',
    worksOnFolder: true,
    load: () => import('./erase.ts'),
  },
  {
    words: ['reset-second-factor'],
    summary: 'let an agent in who lost every second factor',
    worksOnFolder: true,
    load: () => import('./reset-second-factor.ts'),
  },
  {
    words: ['invite'],
    summary: 'create a code to register a workspace',
    load: () => import('./invite.ts'),
  },
  { words: ['model', 'pull'], summary: 'download an embedding model', load: () => import('./model-pull.ts') },
  {
    words: ['import'],
    summary: 'move conversations in from another system or an mbox file',
    load: () => import('./import.ts'),
  },
  {
    words: ['health'],
    summary: 'check whether the service on this machine accepts requests',
    load: () => import('./health.ts'),
  },
  {
    words: ['config', 'check'],
    summary: 'check and print the settings',
    load: () => import('./config-check.ts'),
  },
  {
    words: ['cluster', 'status'],
    summary: 'show the nodes of a cluster and what each owns',
    load: async () => ({ command: (await import('./cluster.ts')).status }),
  },
  {
    words: ['cluster', 'move'],
    summary: 'move a workspace to another node',
    load: async () => ({ command: (await import('./cluster.ts')).move }),
  },
  {
    words: ['cluster', 'drain'],
    summary: 'have a node hand over its workspaces',
    load: async () => ({ command: (await import('./cluster.ts')).drain }),
  },
  {
    words: ['cluster', 'import'],
    summary: 'bring the data of a single server into a new cluster',
    load: () => import('./cluster-import.ts'),
  },
  { words: ['version'], summary: 'print the version', load: () => import('./version.ts') },
];

/** Errors that the operator can fix; any other is a bug and keeps its stack. */
const expected: ReadonlySet<string> = new Set([
  'ProgramError',
  'ConfigError',
  'DataFolderInUse',
  'DataFolderUnusable',
  'DatabaseUnusable',
  'CannotListen',
  'CertificateUnusable',
  'CannotTakeMail',
  'PullFailed',
  'SecretUnreadable',
  'BackupUnusable',
  'NativePartsUnusable',
  'ClusterRefused',
  'NameTaken',
  'LogUnreachable',
  'LogFull',
  'SnapshotsUnreachable',
  'StorageUnavailable',
]);

/**
 * Whoever starts the program, the files it writes (databases and their logs, mails with sign-in links, backups) are
 * readable only by its own user.
 */
const umask = 0o077;

/** Resolves to the exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  process.umask(umask);
  outliveReaders();
  try {
    return await run(args);
  } catch (error) {
    if (!(error instanceof Error) || !expected.has(error.name)) throw error;
    process.stderr.write(`switchboard: ${error.message}\n`);
    return exitCodes.failed;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === '--help' || first === '-h' || first === 'help') return overview();
  if (first === '--version') return run(['version']);
  const listed =
    first === undefined
      ? commands[0]
      : commands.find(({ words }) => words.every((word, index) => args[index] === word));
  if (listed === undefined && (args.includes('--help') || args.includes('-h'))) return overview();
  if (listed === undefined)
    return misused(
      first?.startsWith('-') === true ? `unknown option ${first}` : `unknown command ${args.slice(0, 2).join(' ')}`,
    );
  const { command } = await listed.load();
  const name = listed.words.join(' ');
  let parsed;
  try {
    parsed = parseArgs({
      args: args.slice(listed.words.length),
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error), name);
  }
  const { values, positionals } = parsed;
  if (values['help'] === true) {
    say(`usage: switchboard ${name}${command.usage === '' ? '' : ` ${command.usage}`}\n\n${command.description}`);
    return exitCodes.done;
  }
  if (positionals.length < command.operands.min) return misused(`${name} needs ${command.usage}`, name);
  if (positionals.length > command.operands.max)
    return misused(`unexpected argument for ${name}: ${positionals[command.operands.max]}`, name);
  if (listed.worksOnFolder === true) await requireFolder(name, listed.refusedToNodes);
  return command.run({ values, operands: positionals });
}

async function requireFolder(name: string, refusedToNodes: string | undefined): Promise<void> {
  const { cluster, dataDir } = readConfig(process.env);
  if (cluster !== undefined) {
    if (refusedToNodes === undefined) return;
    throw new ProgramError(`${name} is not for a node of a cluster, whose settings these are: ${refusedToNodes}`);
  }
  // With the store, which most commands do without.
  const { requireNoNode } = await import('../process/folder-owner.ts');
  requireNoNode(resolve(dataDir));
}

function overview(): number {
  const width = Math.max(...commands.map(({ words }) => words.join(' ').length));
  say(
    [
      'usage: switchboard COMMAND',
      '',
      ...commands.map(({ words, summary }) => `  ${words.join(' ').padEnd(width)}  ${summary}`),
      '',
      'Run switchboard COMMAND --help for details. Settings are environment variables; switchboard config check lists them.',
      'Exit codes: 0 success, 1 failure or failed checks, 2 usage error.',
    ].join('\n'),
  );
  return exitCodes.done;
}

function misused(problem: string, name?: string): number {
  process.stderr.write(`switchboard: ${problem}\nTry: switchboard${name === undefined ? '' : ` ${name}`} --help\n`);
  return exitCodes.misused;
}
