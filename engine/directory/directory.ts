// What no single workspace owns: unique subdomains, the addresses agents sign in with, and verified email domains. A
// change that needs both this file and a workspace's reserves here, writes there and confirms here. The workspace's
// file is authoritative: once it has the change, the change holds. Reservations left by a crash or a failing disk are
// swept: settled by what the workspace's file says.

import type { Database } from '../../store/database.ts';
import {
  type DirectoryDomain,
  type DirectoryEmail,
  directoryDomainsOf,
  findDirectoryDomain,
  findDirectoryEmail,
  findDirectoryWorkspace,
  findWorkspaceIdBySubdomain,
  reservedEmails,
  reservedWorkspaces,
} from '../../store/directory/directory.ts';
import { type HelpHostClaim, helpHostOf, helpHosts } from '../../store/directory/help-hosts.ts';
import { reservedNumbers } from '../../store/directory/numbers.ts';
import type { Clock } from '../runtime/clock.ts';
import { Voided } from '../runtime/lane.ts';
import type { Log } from '../runtime/log.ts';
import { NeededFromElsewhere } from '../runtime/placement.ts';
import { Turns } from '../runtime/turns.ts';
import type { SettledSignIn, SettledWorkspace, WantedWorkspace } from './changes.ts';
import { DirectoryFile, type DirectoryFileOptions, DirectoryUnavailable } from './directory-file.ts';

export interface DirectoryOptions extends DirectoryFileOptions {
  /** The sender address of the service's own mail: its name is reserved. */
  readonly mailFrom: string;
}

/** Queries to the workspaces' own files. `null`: the file cannot be read now, or another node serves it. */
export interface WorkspaceFiles {
  /**
   * The address that the agent signs in with; undefined for one who has not joined, was deactivated or does not exist.
   */
  emailOf(workspaceId: string, agentId: string): string | undefined | null;
  /** Whether the workspace's creation finished; false if its file is missing or empty. */
  isMade(workspaceId: string): boolean | null;
  /** Deletes the file of a workspace whose creation did not finish. */
  remove(workspaceId: string): Promise<void>;
}

interface Steps<Reserved, Result> {
  reserve(): Promise<Reserved>;
  work(reserved: Reserved): Promise<Result>;
  confirm(reserved: Reserved): Promise<void>;
  undo(reserved: Reserved): Promise<void>;
}

/**
 * A copy that was brought up to date is believed for so long when it lacks something: strangers ask for any name, and
 * each node asks the directory's a few times a second however many they ask for.
 */
const believedMs = 250;
/** Whoever asked waits for this. */
const askMs = 3000;

/** Delay before unsettled reservations are swept. Doubles after each sweep that left some. */
const sweepAfterMs = 30_000;
const longestSweepAfterMs = 10 * 60_000;

export class Directory extends DirectoryFile {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mailFrom: string;
  /** Agents and workspaces with a change under way, which the sweep must leave alone. */
  readonly #underWay = new Set<string>();
  #files: WorkspaceFiles | undefined;
  /** Sweeps of reservations that other modules settle. */
  readonly #otherSweeps: (() => Promise<void>)[] = [];
  /** By this process. */
  readonly #claimedDomains = new Set<string>();
  /** Paths of help centres by host, as they were read when `writeCount` statements had written to `db`. */
  #helpPaths: { db: Database; writeCount: number; byHost: ReadonlyMap<string, string> } | undefined;
  #unsettledSweeps = 0;
  #nextSweep: { readonly dueMs: number; readonly timer: { cancel(): void } } | undefined;
  readonly #turns = new Turns();
  #stopped = false;
  #believedUntilMs = Number.NEGATIVE_INFINITY;
  #informing: Promise<void> | undefined;
  /** Begins when that has ended: what came up since it began may be behind what it brings. */
  #informingNext: Promise<void> | undefined;

  constructor(options: DirectoryOptions) {
    super(options);
    this.#clock = options.clock;
    this.#log = options.log;
    this.#mailFrom = options.mailFrom;
  }

  /**
   * The agent and workspace of an address that signs in, or is about to, ignoring case. Excludes agents who are only
   * invited.
   */
  findEmail(email: string): DirectoryEmail | undefined {
    return findDirectoryEmail(this.db, email);
  }

  /**
   * The same for an address that a copy does not know: the copy may be behind, or cut off without knowing it yet. Asks
   * the node that serves the directory. Undefined at once if that is this one. Rejects with DirectoryUnavailable.
   */
  async findEmailElsewhere(email: string): Promise<DirectoryEmail | undefined> {
    if (!this.isCopy) return undefined;
    // Always: whoever registered a moment ago at another node signs in.
    await this.#inform();
    return findDirectoryEmail(this.db, email);
  }

  /**
   * Before it is said for good that the directory lacks something: a mail is returned, a caller turned away. Throws
   * NeededFromElsewhere if this is a copy that may be behind; after its fetch() the same can be looked up again.
   */
  requireCurrent(): void {
    if (!this.isCopy || this.#isBelieved) return;
    throw new NeededFromElsewhere('the directory', () => this.#inform());
  }

  get #isBelieved(): boolean {
    return this.#clock.now() < this.#believedUntilMs;
  }

  /**
   * Brings the copy up to date: everything that was in the directory when this was called is then in it. All who ask
   * meanwhile share one question. Rejects with DirectoryUnavailable.
   */
  #inform(): Promise<void> {
    this.#informingNext ??= (async () => {
      await this.#informing?.catch(() => undefined);
      this.#informing = this.#ask();
      this.#informingNext = undefined;
      await this.#informing;
    })();
    return this.#informingNext;
  }

  async #ask(): Promise<void> {
    // Resolves when the copy has everything up to it.
    const shown = this.change('nothing', {});
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(askMs, () =>
        reject(new DirectoryUnavailable('the node that serves the directory takes too long')),
      );
      shown.then(resolve, reject).finally(() => timer.cancel());
    });
    this.#believedUntilMs = this.#clock.now() + believedMs;
  }

  /**
   * Reserves a subdomain similar to the wanted one and the owner's email, creates the workspace's file and confirms, or
   * undoes it all. Refuses email_taken, and callers who may not register.
   */
  withWorkspace<Result>(
    wanted: WantedWorkspace,
    file: { make(subdomain: string): Promise<Result>; remove(): Promise<void> },
  ): Promise<Result> {
    const { workspaceId, agentId, email } = wanted;
    return this.around([agentId, workspaceId], {
      reserve: () => this.change('reserve-workspace', { ...wanted, mailFrom: this.#mailFrom }),
      work: (subdomain) => file.make(subdomain),
      confirm: () => this.change('confirm-workspace', { workspaceId, agentId, email }),
      // The file goes first: while it exists, the sweep must find the reservation that points to it.
      undo: async () => {
        await file.remove();
        await this.change('cancel-workspace', { workspaceId, agentId });
      },
    });
  }

  /**
   * Wraps a change of an agent's sign-in: joining, a new address, or leaving. Reserves the future address, runs the
   * work that writes the workspace, and then stores the address in the workspace's file, which is none for an agent who
   * has not joined. Refuses `taken` if another agent has the address.
   */
  changeSignIn<Result>(
    agent: { agentId: string; workspaceId: string; email?: string; taken?: 'email_taken' | 'email_already_exists' },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { agentId, workspaceId } = agent;
    const settle = async (reservedAt: string): Promise<void> => {
      const signIn = this.#signInOf({ agentId, workspaceId, reservedAt });
      if (signIn === undefined) throw new Error(`workspace ${workspaceId} cannot be read`);
      await this.change('settle-sign-in', signIn);
    };
    return this.around([agentId], {
      reserve: () => this.change('reserve-sign-in', { taken: 'email_already_exists', ...agent }),
      work,
      confirm: settle,
      undo: settle,
    });
  }

  /** Undefined if the workspace's file cannot be read now. */
  #signInOf(reserved: Omit<SettledSignIn, 'email'>): SettledSignIn | undefined {
    const { agentId, workspaceId, reservedAt } = reserved;
    const email = this.#files === undefined ? null : this.#files.emailOf(workspaceId, agentId);
    return email === null ? undefined : { agentId, workspaceId, reservedAt, email: email ?? null };
  }

  /**
   * A change of both files: reserves here, runs the work that writes the workspace, then confirms, or releases if the
   * work was refused. By then the outcome is decided, so a failure to confirm or release does not fail the change. What
   * may have happened is left to the sweep. One at a time for the first id.
   */
  around<Reserved, Result>(ids: readonly [string, ...string[]], steps: Steps<Reserved, Result>): Promise<Result> {
    return this.#turns.take(ids[0], async () => {
      for (const id of ids) this.#underWay.add(id);
      try {
        return await this.#run(steps);
      } catch (error) {
        if (error instanceof DirectoryUnavailable || error instanceof Voided) this.sweepLater(error);
        throw error;
      } finally {
        for (const id of ids) this.#underWay.delete(id);
      }
    });
  }

  async #run<Reserved, Result>({ reserve, work, confirm, undo }: Steps<Reserved, Result>): Promise<Result> {
    const settle = (settled: Promise<void>) => settled.catch((error: unknown) => this.sweepLater(error));
    const reserved = await reserve();
    let result: Result;
    try {
      result = await work(reserved);
    } catch (error) {
      if (!(error instanceof Voided)) await settle(undo(reserved));
      throw error;
    }
    await settle(confirm(reserved));
    return result;
  }

  /** As DirectoryFile. The other node may end before it has settled what it reserves. */
  override async changeFor(name: string, params: unknown): Promise<unknown> {
    const result = await super.changeFor(name, params);
    if (name.startsWith('reserve-')) this.sweepSoon();
    return result;
  }

  /** Adds a sweep. It rejects if it could not settle everything. */
  alsoSweep(sweep: () => Promise<void>): void {
    this.#otherSweeps.push(sweep);
  }

  /**
   * Whether a change of this agent, workspace or number is under way, so that the sweep must leave its reservation
   * alone.
   */
  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  sweepLater(error: unknown): void {
    this.#log.error({ err: error }, 'reservations could not be settled; a later sweep does it');
    this.#sweepWithin(this.#betweenSweepsMs);
  }

  /** For what another node has begun or served: what it leaves behind is settled in a while. */
  sweepSoon(): void {
    this.#unsettledSweeps = 0;
    this.#sweepWithin(sweepAfterMs);
  }

  get #betweenSweepsMs(): number {
    return Math.min(sweepAfterMs * 2 ** this.#unsettledSweeps, longestSweepAfterMs);
  }

  #sweepWithin(ms: number): void {
    const dueMs = this.#clock.now() + ms;
    if (this.#nextSweep !== undefined && this.#nextSweep.dueMs <= dueMs) return;
    this.#nextSweep?.timer.cancel();
    const timer = this.#clock.after(ms, () => {
      this.#nextSweep = undefined;
      void this.#sweepAll();
    });
    this.#nextSweep = { dueMs, timer };
  }

  async #sweepAll(): Promise<void> {
    if (this.#stopped) return;
    const files = this.#files;
    if (files === undefined) {
      // The service still starts.
      this.#sweepWithin(sweepAfterMs);
      return;
    }
    try {
      await this.#settleBy(files);
      for (const sweep of this.#otherSweeps) await sweep();
      this.#goOnSweeping();
    } catch (error) {
      this.#unsettledSweeps += 1;
      this.sweepLater(error);
    }
  }

  /** What another node has begun may be nobody's in a while. */
  #goOnSweeping(): void {
    this.#unsettledSweeps = this.#hasReservations ? this.#unsettledSweeps + 1 : 0;
    if (this.#hasReservations) this.#sweepWithin(this.#betweenSweepsMs);
  }

  get #hasReservations(): boolean {
    const { db } = this;
    return reservedWorkspaces(db).length + reservedEmails(db).length + reservedNumbers(db).length > 0;
  }

  /**
   * Settles leftover reservations by the workspaces' own files. Those of unreadable files, and of workspaces that
   * another node serves, stay reserved, and are looked at again.
   */
  async sweep(files: WorkspaceFiles): Promise<void> {
    this.#files = files;
    await this.#settleBy(files);
    if (this.#hasReservations) this.sweepSoon();
  }

  async #settleBy(files: WorkspaceFiles): Promise<void> {
    const workspaces: SettledWorkspace[] = [];
    const undecided = new Set<string>();
    for (const { id } of reservedWorkspaces(this.db)) {
      const isMade = this.isUnderWay(id) ? null : files.isMade(id);
      if (isMade === null || (!isMade && !(await this.#remove(files, id)))) undecided.add(id);
      else workspaces.push({ workspaceId: id, isMade });
    }
    const unmade = new Set(workspaces.flatMap(({ workspaceId, isMade }) => (isMade ? [] : [workspaceId])));
    const signIns = reservedEmails(this.db).flatMap((row): SettledSignIn[] => {
      const { agentId, workspaceId, reservedAt } = row;
      const isNobodys = unmade.has(workspaceId) || findDirectoryWorkspace(this.db, workspaceId) === undefined;
      if (isNobodys && !this.isUnderWay(agentId)) return [{ agentId, workspaceId, reservedAt, email: null }];
      const signIn = this.isUnderWay(agentId) || undecided.has(workspaceId) ? undefined : this.#signInOf(row);
      return signIn === undefined ? [] : [signIn];
    });
    if (signIns.length + workspaces.length > 0) await this.change('settle-reservations', { signIns, workspaces });
  }

  /** False if that was not possible: the workspace may be another node's, which has made it. */
  async #remove(files: WorkspaceFiles, workspaceId: string): Promise<boolean> {
    try {
      await files.remove(workspaceId);
      return true;
    } catch (err) {
      this.#log.warn({ workspaceId, err }, 'a workspace that seems not to be made was left alone; a later sweep looks');
      return false;
    }
  }

  /** Whether the workspace exists and its creation has finished. */
  isWorkspace(workspaceId: string): boolean {
    return findDirectoryWorkspace(this.db, workspaceId)?.reservedAt === null;
  }

  /** The workspace of a subdomain. */
  findSubdomain(subdomain: string): string | undefined {
    return findWorkspaceIdBySubdomain(this.db, subdomain);
  }

  /** The path of the help centre that the host of this header shows. None is known while there is no directory. */
  helpPathAt(header = ''): string | undefined {
    if (!this.isReadable) return undefined;
    const byHost = this.#helpPathsByHost();
    if (byHost.size === 0) return undefined;
    return byHost.get(header.toLowerCase().replace(/\.?(?::\d+)?$/, ''));
  }

  /** Asked with every request, so read again only after a change. */
  #helpPathsByHost(): ReadonlyMap<string, string> {
    const { db } = this;
    const { writeCount } = db;
    if (this.#helpPaths?.db !== db || this.#helpPaths.writeCount !== writeCount) {
      const paths = helpHosts(db).map(
        ({ host, subdomain }) => [host, `/help/${encodeURIComponent(subdomain)}`] as const,
      );
      this.#helpPaths = { db, writeCount, byHost: new Map(paths) };
    }
    return this.#helpPaths.byHost;
  }

  /** The host that leads to the workspace's help centre. */
  helpHostOf(workspaceId: string): string | undefined {
    return helpHostOf(this.db, workspaceId);
  }

  /** Resolves to the workspace that had it. */
  async claimHelpHost(claim: HelpHostClaim): Promise<string | undefined> {
    return (await this.change('claim-help-host', claim)) ?? undefined;
  }

  releaseHelpHost(claim: HelpHostClaim): Promise<void> {
    return this.change('release-help-host', claim);
  }

  /** The workspace that verified a domain. */
  findDomain(name: string): string | undefined {
    return findDirectoryDomain(this.db, name)?.workspaceId;
  }

  /** Claims a verified domain for a workspace. Returns false if another one has it. */
  claimDomain({ name, workspaceId }: DirectoryDomain): Promise<boolean> {
    this.#claimedDomains.add(name);
    return this.change('claim-domain', { name, workspaceId });
  }

  /** Releases every domain that the workspace holds except the one that it has verified. */
  async releaseDomains({
    workspaceId,
    verified,
  }: {
    workspaceId: string;
    verified: string | undefined;
  }): Promise<void> {
    await this.#deleteDomains(directoryDomainsOf(this.db, workspaceId).filter(({ name }) => name !== verified));
  }

  /**
   * The same for claims left by an ended process. `verified` was read from the workspace's file some time after the
   * start, so claims made since then stay. Not called for a workspace whose file cannot be read: it keeps its claims.
   */
  async settleDomains({ workspaceId, verified }: { workspaceId: string; verified: string | undefined }): Promise<void> {
    await this.#deleteDomains(
      directoryDomainsOf(this.db, workspaceId).filter(
        ({ name }) => name !== verified && !this.#claimedDomains.has(name),
      ),
    );
  }

  async #deleteDomains(domains: readonly DirectoryDomain[]): Promise<void> {
    if (domains.length > 0) await this.change('release-domains', { domains });
  }

  override async stop(): Promise<void> {
    this.#stopped = true;
    await super.stop();
  }
}
