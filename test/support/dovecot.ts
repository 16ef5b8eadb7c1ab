// A real IMAP server: Debian's Dovecot on a free loopback port, with mailboxes in a folder of its own, TLS, passwords, and
// access tokens (XOAUTH2) that a web server of the test judges. Without Dovecot its tests are skipped.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { freePort } from './free-port.ts';
import type { Teardown } from './service.ts';

const program = '/usr/sbin/dovecot';
export const hasDovecot = existsSync(program) && existsSync('/usr/lib/dovecot/imap-login');
/** Its user and group in Debian. */
const nobody = 65_534;
export const password = 'app-password';

const certificates = join(import.meta.dirname, '../fixtures/tls');

export class Dovecot {
  readonly port: number;
  readonly #folder: string;
  readonly #tokenUrl: string | undefined;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, tokenUrl: string | undefined) {
    this.#folder = folder;
    this.port = port;
    this.#tokenUrl = tokenUrl;
  }

  /** `tokenUrl`: answers `{"username": …}` to `Authorization: Bearer <token>` for a good token. */
  static async start(t: Teardown, options: { tokenUrl?: string } = {}): Promise<Dovecot> {
    const folder = mkdtempSync(join(tmpdir(), 'dovecot-'));
    const dovecot = new Dovecot(folder, await freePort(), options.tokenUrl);
    t.teardown(async () => {
      await dovecot.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await dovecot.begin();
    return dovecot;
  }

  /** Runs it, after stop() on the same port and mailboxes. */
  async begin(): Promise<void> {
    const config = join(this.#folder, 'dovecot.conf');
    writeFileSync(config, this.#settings());
    mkdirSync(join(this.#folder, 'mail'), { recursive: true });
    // Root keeps no mail, so its server writes as nobody.
    chmodSync(this.#folder, 0o755);
    chmodSync(join(this.#folder, 'mail'), 0o777);
    this.#process = spawn(program, ['-F', '-c', config], { stdio: 'ignore' });
    await this.#listening();
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = once(running, 'exit');
    this.kick('*');
    running.kill();
    await ended;
  }

  /** Ends every connection, as a server does that restarts. */
  kick(user: string): void {
    spawnSync('doveadm', ['-c', join(this.#folder, 'dovecot.conf'), 'kick', user]);
  }

  /** Another client of the mailbox. */
  async as<Result>(user: string, use: (client: ImapFlow) => Promise<Result>): Promise<Result> {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: this.port,
      secure: true,
      tls: { rejectUnauthorized: false },
      auth: { user, pass: password },
      logger: false,
    });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.logout();
    }
  }

  /** Puts a mail into the mailbox, received at a time. */
  deliver(user: string, raw: string, { at, folder = 'INBOX' }: { at: Date; folder?: string }): Promise<void> {
    return this.as(user, async (client) => {
      await client.append(folder, raw.replaceAll(/\r?\n/g, '\r\n'), [], at);
    });
  }

  /** Subjects and flags of a folder's mails, in order. */
  contents(user: string, folder = 'INBOX'): Promise<{ subject: string; isSeen: boolean }[]> {
    return this.as(user, async (client) => {
      await client.mailboxOpen(folder, { readOnly: true });
      const mails = await client.fetchAll('1:*', { envelope: true, flags: true });
      return mails.map(({ envelope, flags }) => ({
        subject: envelope?.subject ?? '',
        isSeen: flags?.has('\\Seen') === true,
      }));
    });
  }

  /** The folder is numbered anew, as after a server's move. */
  async renumber(user: string): Promise<void> {
    await this.stop();
    rmSync(join(this.#folder, 'mail', user, 'dovecot-uidlist'), { force: true });
    for (const name of ['dovecot.index', 'dovecot.index.log', 'dovecot.index.cache', 'dovecot-uidvalidity'])
      rmSync(join(this.#folder, 'mail', user, name), { force: true });
    await this.begin();
  }

  #settings(): string {
    const { username, uid, gid } = userInfo();
    const isRoot = uid === 0;
    const [mailUid, mailGid] = isRoot ? [nobody, nobody] : [uid, gid];
    const folder = this.#folder;
    const owner = isRoot ? '' : `default_internal_user = ${username}\ndefault_login_user = ${username}\n`;
    const unchrooted = ['anvil', 'imap-login'].map((name) => `service ${name} {\n  chroot =\n}\n`).join('');
    const tokens =
      this.#tokenUrl === undefined
        ? ''
        : `passdb {\n  driver = oauth2\n  mechanisms = xoauth2\n  args = ${join(folder, 'oauth2.conf')}\n}\n`;
    if (this.#tokenUrl !== undefined)
      writeFileSync(
        join(folder, 'oauth2.conf'),
        `introspection_url = ${this.#tokenUrl}\nintrospection_mode = auth\nusername_attribute = username\n`,
      );
    return `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${join(certificates, 'cert.pem')}
ssl_key = <${join(certificates, 'key.pem')}
auth_mechanisms = plain login xoauth2
mail_location = maildir:${folder}/mail/%u
${owner}${isRoot ? '' : unchrooted}
${tokens}
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${mailUid} gid=${mailGid} home=${folder}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${this.port}
    ssl = yes
  }
}
`;
  }

  async #listening(): Promise<void> {
    for (;;) {
      if (this.#process?.exitCode !== null) throw new Error('Dovecot did not start');
      const socket = connect(this.port, '127.0.0.1');
      const isThere = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true));
        socket.once('error', () => resolve(false));
      });
      socket.destroy();
      if (isThere) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
