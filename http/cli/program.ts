// The command line: finds the command, answers --help, parses its options, and turns what it throws into a line and an
// exit code. Each command is loaded when it is asked for, so that none pays for the others.

import { parseArgs } from 'node:util';
import { type Command, exitCodes, say } from './command.ts';

interface Listed {
  readonly words: readonly string[];
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

const commands: readonly Listed[] = [
  {
    words: ['serve'],
    summary: 'serve, until SIGTERM; what a call without a command does',
    load: () => import('./serve.ts'),
  },
  {
    words: ['backup'],
    summary: 'copy the data, or one workspace, while it is served',
    load: () => import('./backup.ts'),
  },
  { words: ['restore'], summary: 'bring a backup back', load: () => import('./restore.ts') },
  { words: ['verify'], summary: 'check everything that must hold of the data', load: () => import('./verify.ts') },
  {
    words: ['repair'],
    summary: 'write directory.db anew from the workspaces, go on with other keys',
    load: () => import('./repair.ts'),
  },
  { words: ['export'], summary: 'write a workspace as lines of JSON', load: () => import('./export.ts') },
  { words: ['erase'], summary: 'remove a contact or a workspace for good', load: () => import('./erase.ts') },
  {
    words: ['reset-second-factor'],
    summary: 'let an agent in who lost every second factor',
    load: () => import('./reset-second-factor.ts'),
  },
  {
    words: ['invite'],
    summary: 'make a code by which somebody may make a workspace',
    load: () => import('./invite.ts'),
  },
  { words: ['model', 'pull'], summary: 'download a model for embeddings', load: () => import('./model-pull.ts') },
  {
    words: ['health'],
    summary: 'ask the service on this machine whether it takes requests',
    load: () => import('./health.ts'),
  },
  {
    words: ['config', 'check'],
    summary: 'check the settings and say what they are',
    load: () => import('./config-check.ts'),
  },
  { words: ['version'], summary: 'say what this is', load: () => import('./version.ts') },
];

/** Errors that an operator can mend; any other is a bug and keeps its stack. */
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
]);

/**
 * Whatever starts the program: what it writes (databases and their logs, mails with links that let somebody in,
 * backups) is for its own user alone.
 */
const umask = 0o077;

/** Resolves to the exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  process.umask(umask);
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
      first?.startsWith('-') === true
        ? `there is no option ${first} without a command`
        : `there is no command ${args.slice(0, 2).join(' ')}`,
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
    return misused(`${name} takes no ${positionals[command.operands.max]}`, name);
  return command.run({ values, operands: positionals });
}

function overview(): number {
  const width = Math.max(...commands.map(({ words }) => words.join(' ').length));
  say(
    [
      'usage: switchboard COMMAND',
      '',
      ...commands.map(({ words, summary }) => `  ${words.join(' ').padEnd(width)}  ${summary}`),
      '',
      'switchboard COMMAND --help says more. Settings are environment variables; switchboard config check lists them.',
      'Exit codes: 0 done, 1 it failed or what was checked is not as it must be, 2 the command line was not understood.',
    ].join('\n'),
  );
  return exitCodes.done;
}

function misused(problem: string, name?: string): number {
  process.stderr.write(`switchboard: ${problem}\nTry: switchboard${name === undefined ? '' : ` ${name}`} --help\n`);
  return exitCodes.misused;
}
