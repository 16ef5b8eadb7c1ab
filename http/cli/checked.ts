// What `switchboard verify` found so far, of a data folder or of a cluster: told as it is found, and summed up at the end.

import { type Finding, verifyWorkspace, workspacePath } from '../../engine/operations/integrity.ts';
import { countSealed, type Opener } from '../../engine/operations/sealed-proof.ts';
import { Database } from '../../store/database.ts';
import { exitCodes, say } from './command.ts';

export class Checked {
  readonly findings: Finding[] = [];
  #workspaces = 0;
  #messages = 0;

  tell(found: readonly Finding[]): void {
    for (const { where, rule, fault } of found) say(`${where}: failed check: ${rule}: ${fault}`);
    this.findings.push(...found);
  }

  /**
   * Checks a workspace's file and that its secrets can be opened. `onChecked` is called before anything is told. False if
   * the file cannot be read well enough for more.
   */
  workspace(
    dataDir: string,
    workspaceId: string,
    { box, onChecked }: { readonly box: Opener | undefined; onChecked(): void },
  ): boolean {
    const { findings, counts } = verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId);
    onChecked();
    this.tell(findings);
    this.#workspaces += 1;
    this.#messages += counts?.messages ?? 0;
    if (counts === undefined) return false;
    this.tell(sealedFindings(dataDir, workspaceId, box));
    return true;
  }

  /** Resolves to the exit code. */
  end(title: string, { isQuiet }: { readonly isQuiet: boolean }): number {
    const { length } = this.findings;
    if (length > 0) {
      say(`${title}: ${length === 1 ? '1 problem' : `${length} problems`}`);
      return exitCodes.failed;
    }
    if (!isQuiet)
      say(
        `${title}: ${this.#workspaces} ${this.#workspaces === 1 ? 'workspace' : 'workspaces'} with ${this.#messages} messages, no problems`,
      );
    return exitCodes.done;
  }
}

function sealedFindings(dataDir: string, workspaceId: string, box: Opener | undefined): Finding[] {
  const db = Database.openReader(workspacePath(dataDir, workspaceId));
  try {
    const { sealed, unopened } = countSealed(db, workspaceId, box);
    return unopened === 0
      ? []
      : [
          {
            where: `workspaces/${workspaceId}.db`,
            rule: 'sealed secrets can be opened',
            fault: `${unopened} of ${sealed} secrets cannot, with the present key`,
          },
        ];
  } finally {
    db.close();
  }
}
