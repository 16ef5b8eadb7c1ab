// Real mail through the SMTP listener: other clients' answers, missing headers, forwards, automatic mail, character
// sets, and hostile mail. expected.json has the thread of each file and what agents see of it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DnsZone, sendRaw } from '../support/mail-servers.ts';
import { startService } from '../support/service.ts';

interface Expected {
  readonly dropped?: string;
  /** Files with the same word are one conversation; others are separate. */
  readonly thread?: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly subject?: string;
  readonly name?: string;
  readonly body?: string;
  /** The preview in lists. */
  readonly preview?: string;
  /** What the displayed HTML must and must not contain. */
  readonly html?: readonly string[];
  readonly notHtml?: readonly string[];
  readonly attachments?: readonly { readonly name: string; readonly holds?: string }[];
}

const folder = join(import.meta.dirname, '..', 'fixtures', 'mail');
const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<string, Expected>;
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.eml'))
  .sort();

t.same(files, Object.keys(expected), 'every file has its expectation');

t.test('[4.20] the corpus', async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, {
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: dns.address },
  });
  const owner = await service.workspace();
  const { address } = await service.mailbox(owner);
  const port = service.running.smtpPort ?? 0;
  const conversationOf = new Map<string, string>();
  const messageIdOf = new Map<string, string>();
  const known = new Set<string>();

  for (const file of files) {
    await t.test(file, async (t) => {
      const raw = readFileSync(join(folder, file));
      const want = expected[file] ?? {};
      // Far enough apart that no sender counts as automatic.
      service.clock.advance(20 * 60_000);
      const from = /^From:.*?([^\s<>"]+@[^\s<>"]+)/im.exec(raw.toString('latin1'))?.[1] ?? '';
      const sender = /mailer-daemon/i.test(from) ? '' : from;
      t.match(await sendRaw(port, { from: sender, to: address, raw }), /^250/);
      const fresh: { ticket: any; message: any }[] = [];
      for (const ticket of await service.tickets(owner.token)) {
        for (const message of await service.messages(ticket.id, owner.token))
          if (!known.has(message.id)) fresh.push({ ticket, message });
      }
      const [found] = fresh;
      if (want.dropped !== undefined) {
        t.equal(found, undefined, 'no message');
        t.match((await service.audited('email.dropped', owner.token))[0], {
          actorAgentId: null,
          context: { reason: want.dropped },
        });
        return;
      }
      t.equal(fresh.length, 1, 'one message');
      if (found === undefined) return;
      const { ticket, message } = found;
      known.add(message.id);
      messageIdOf.set(file, message.id);
      const { thread = '' } = want;
      const seen = conversationOf.get(thread);
      if (seen === undefined) t.notOk([...conversationOf.values()].includes(ticket.id), 'a conversation of its own');
      else t.equal(ticket.id, seen, `the conversation of ${thread}`);
      conversationOf.set(thread, ticket.id);
      t.match(message.threading, { rule: want.rule, reason: want.reason ?? null });
      t.equal(message.threading.matchedMessageId === null, want.rule === 'new');
      if (want.subject !== undefined) t.equal(ticket.subject, want.subject);
      if (want.body !== undefined) t.equal(message.body, want.body);
      if (want.preview !== undefined) t.equal(ticket.preview, want.preview);
      for (const text of want.html ?? []) t.ok(message.bodyHtml.includes(text), `shows ${text} in ${message.bodyHtml}`);
      for (const text of want.notHtml ?? [])
        t.notOk(message.bodyHtml.toLowerCase().includes(text.toLowerCase()), `does not show ${text}`);
      t.same(
        message.attachments.map(({ name }: { name: string }) => name),
        (want.attachments ?? []).map(({ name }) => name),
      );
      for (const [index, { holds }] of (want.attachments ?? []).entries()) {
        const { url, size } = message.attachments[index];
        const content = await (await fetch(url.replace('http://switchboard.test', service.url))).text();
        if (holds !== undefined) t.ok(content.includes(holds), `holds ${holds}`);
        t.ok(size > 0);
      }
      const original = await service.get(`/conversations/${ticket.id}/messages/${message.id}/original`, owner.token);
      t.equal(original.status, 200);
      t.equal(original.body.from.address, from);
      if (want.name !== undefined) t.equal(original.body.from.name, want.name);
      t.match(original.body.authentication, { spf: String, dkim: String, dmarc: String });
      const source = await fetch(`${service.url}/api/v1/conversations/${ticket.id}/messages/${message.id}/source`, {
        headers: { Authorization: `Bearer ${owner.token}` },
      });
      // Lines end with CRLF on the wire.
      const sent = raw.toString('latin1').replace(/\r?\n/g, '\r\n');
      t.equal(Buffer.from(await source.arrayBuffer()).toString('latin1'), sent, 'its source is what was sent');
      t.same(original.body.source, { size: sent.length, isWhole: true });
    });
  }

  t.test('[decisions] content stripped for display is kept in the original', async (t) => {
    const original = async (file: string) =>
      (
        await service.get(
          `/conversations/${conversationOf.get(expected[file]?.thread ?? '')}/messages/${messageIdOf.get(file)}/original`,
          owner.token,
        )
      ).body;
    t.match(await original('02-outlook-reply.eml'), {
      mailId: 'AM0PR0101MB0001@AM0PR0101.eurprd01.prod.outlook.example',
      text: /Sorry to hear that/,
      html: /Sorry to hear that/,
    });
    t.match(await original('08-yahoo-reply.eml'), { text: null, html: /All set for Monday/ });
    t.match(await original('28-hostile-html.eml'), { html: /<script>alert/ }, 'as it came');
  });

  t.test('the whole corpus again changes nothing', async (t) => {
    const before = (await service.tickets(owner.token)).map(({ id, updatedAt }) => ({ id, updatedAt }));
    for (const file of files) {
      const raw = readFileSync(join(folder, file));
      t.match(await sendRaw(port, { from: 'resent@customer.example', to: address, raw }), /^250/, file);
    }
    t.same(
      (await service.tickets(owner.token)).map(({ id, updatedAt }) => ({ id, updatedAt })),
      before,
    );
  });
});
