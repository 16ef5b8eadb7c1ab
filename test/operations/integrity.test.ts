import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  directoryPath,
  verifyAgreement,
  verifyDirectory,
  verifyWorkspace,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { searchSchema } from '../../store/migrations/search.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { searchIndexFaults } from '../../workers/search/integrity.ts';
import { segmentDocs } from '../../workers/search/postings.ts';
import { SearchIndex } from '../../workers/search/search-index.ts';
import { claimLine, ringLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { startService, type Teardown } from '../support/service.ts';

/** A workspace with one of everything, stopped. */
async function lived(t: Teardown): Promise<{ dataDir: string; workspaceId: string }> {
  const dataDir = tempFolder(t);
  const service = await startService(t, { dataDir });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { available: true });
  const bob = await service.agent(owner);
  const chat = await service.chat(owner);
  await service.customer(owner.embedId, { name: 'Kim', email: 'kim@example.org' });
  await service.post(
    `/conversations/${chat.id}/assign-to-agent`,
    { agentId: bob.agentId, expectedVersion: (await service.conversation(chat.id, owner.token)).version },
    owner.token,
  );
  const solved = await service.chat(owner, 'Thank you!');
  await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, owner.token);
  await service.get('/workspace/integrations', owner.token);
  const { id: callId } = await ringLine(service, await claimLine(service, owner));
  await service.post(`/calls/${callId}/answer`, {}, ann.token);
  await service.post(`/calls/${callId}/hangup`, {}, ann.token);
  await service.settled();
  await service.stop();
  return { dataDir, workspaceId: owner.workspaceId };
}

/** A statement, and the rule it violates. */
const breaks: [string, RegExp][] = [
  [`DELETE FROM event WHERE seq = (SELECT min(seq) + 1 FROM event)`, /without a gap/],
  [
    `UPDATE event SET data = '[999999]' WHERE type = 'message.created'`,
    /message and the conversation of an event exist/,
  ],
  [`UPDATE event SET conversationId = 'gone' WHERE type = 'conversation.updated'`, /conversation of an event exist/],
  [`UPDATE conversation SET ticketNumber = 7 WHERE rowid_first`, /ticket numbers/],
  [`UPDATE conversation SET lastLineAt = '2020-01-01T00:00:00.000Z'`, /newest message/],
  [`UPDATE conversation SET lastCustomerMessageAt = '2020-01-01T00:00:00.000Z'`, /customer last wrote/],
  [`UPDATE conversation SET lastSenderType = 'ai'`, /who spoke last/],
  [`UPDATE conversation SET snoozedUntil = '2030-01-01T00:00:00.000Z'`, /snoozed conversation is pending/],
  [`UPDATE conversation SET mergedInto = id`, /a merged ticket is closed/],
  [`UPDATE contact SET email = 'other@example.org'`, /email is the first of its addresses/],
  [`UPDATE site SET version = 0`, /versions count from 1/],
  [`UPDATE agent SET role = 'agent'`, /there is an admin/],
  [
    `UPDATE agent SET deactivatedAt = '2020-01-01T00:00:00.000Z' WHERE role = 'agent'`,
    /deactivated agent can do nothing/,
  ],
  [`UPDATE conversation SET departmentId = 'gone'`, /department exists/],
  [`DELETE FROM deadline WHERE kind = 'assignment.expire'`, /an offer belongs to/],
  [`UPDATE conversation SET handshake = NULL`, /an offer belongs to/],
  [`DELETE FROM deadline WHERE kind = 'conversation.autoClose'`, /solved conversation has a deadline/],
  [`UPDATE conversation SET channel = 'chat' WHERE channel = 'call'`, /call belongs to a conversation/],
  [`UPDATE conversation SET phoneNumberId = NULL`, /knows its number/],
  [`UPDATE conversation SET voicemailId = 'x'`, /and its voicemail/],
  [`DELETE FROM callEvent WHERE position = (SELECT min(position) + 1 FROM callEvent)`, /timeline has no gap/],
  [`DELETE FROM deadline WHERE kind = 'workspace.maintain'`, /daily upkeep/],
  [`UPDATE outbox SET isFirst = 0, state = 'queued', settledAt = NULL`, /each target's first/],
  [`UPDATE outbox SET settledAt = NULL WHERE state = 'sent'`, /queued or settled/],
  [`UPDATE message SET deliveryStatus = 'queued'`, /queued message has its outside work/],
  [`DELETE FROM visitorChange`, /changes for the search index/],
  [`UPDATE message SET createdAt = createdAt || 'x'`, /a time is ISO 8601/],
  [`UPDATE event SET data = '{'`, /are JSON/],
  [`INSERT INTO deadline VALUES ('unheard.of', 'x', '2020-01-01T00:00:00.000Z')`, /kinds of all deadlines/],
  [
    `UPDATE outbox SET kind = 'unheard.of', state = 'queued', settledAt = NULL, isFirst = 1 WHERE id = (SELECT min(id) FROM outbox)`,
    /kinds of all outside work/,
  ],
  [`DELETE FROM workspace`, /holds one workspace/],
  [`UPDATE workspace SET id = 'other'`, /named after its workspace/],
  [`DELETE FROM site`, /references point to existing rows/],
  [`DROP INDEX noteByConversation`, /schema is the program's/],
  [`CREATE TABLE mine (id TEXT)`, /schema is the program's/],
  [`PRAGMA user_version = 1`, /schema is the program's/],
];

t.test('a data folder that was lived in is as it must be', async (t) => {
  const { dataDir, workspaceId } = await lived(t);
  const { findings, counts } = verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId);
  t.same(findings, []);
  t.ok((counts?.messages ?? 0) > 2);
  t.same(verifyDirectory(directoryPath(dataDir)), []);
  t.same(verifyAgreement(dataDir), []);

  await t.test('each violated rule is reported', async (t) => {
    for (const [sql, rule] of breaks) {
      const path = join(tempFolder(t), 'broken.db');
      copyFileSync(workspacePath(dataDir, workspaceId), path);
      const db = Database.openWriter(path, workspaceMigrations);
      db.run('PRAGMA foreign_keys = OFF');
      db.run(sql.replace('rowid_first', `id = (SELECT min(id) FROM conversation)`));
      db.close();
      const broken = verifyWorkspace(path, workspaceId).findings;
      t.ok(
        broken.some((finding) => rule.test(finding.rule)),
        `${sql}: ${JSON.stringify(broken.map((finding) => finding.rule))}`,
      );
    }
  });

  await t.test('damage is reported, wherever it is', async (t) => {
    const path = join(tempFolder(t), 'broken.db');
    const whole = readFileSync(workspacePath(dataDir, workspaceId));
    for (const page of [1, Math.floor(whole.length / 4096 / 2)]) {
      const bytes = Buffer.from(whole);
      bytes.fill(0xab, page * 4096, (page + 1) * 4096);
      writeFileSync(path, bytes);
      t.ok(verifyWorkspace(path, workspaceId).findings.length > 0, `page ${page}`);
    }
    writeFileSync(
      path,
      'no database at all, but some text that is longer than a header of a file would be, so that it is read as one, and more, and more',
    );
    t.match(verifyWorkspace(path, workspaceId).findings, [{ rule: 'the file can be read' }]);
  });

  await t.test('directory.db and the workspaces must agree', async (t) => {
    const rows: [string, RegExp, RegExp][] = [
      [`DELETE FROM agentEmail WHERE rowid_any`, /every email of an agent/, /does not list owner/],
      [
        `INSERT INTO agentEmail VALUES ('ghost@example.com', '${workspaceId}', 'x', NULL)`,
        /every email of an agent/,
        /only it lists ghost/,
      ],
      [`UPDATE workspace SET subdomain = 'other'`, /every subdomain/, /other|shop/],
      [`DELETE FROM phoneNumber`, /every phone number/, /does not list \+/],
      [
        `INSERT INTO workspace VALUES ('01a1faa5-20b4-76c0-bd16-f71190000000', 'Ghost', 'ghost', NULL, '2020-01-01T00:00:00.000Z')`,
        /has its file/,
        /01a1faa5/,
      ],
    ];
    const original = readFileSync(directoryPath(dataDir));
    for (const [sql, rule, fault] of rows) {
      const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
      directory.run(sql.replace('rowid_any', `email LIKE 'owner%'`));
      directory.close();
      t.ok(
        verifyAgreement(dataDir).some((finding) => rule.test(finding.rule) && fault.test(finding.fault)),
        sql,
      );
      for (const name of readdirSync(dataDir).filter((one) => one.startsWith('directory.db')))
        rmSync(join(dataDir, name));
      writeFileSync(directoryPath(dataDir), original);
    }
    t.same(verifyAgreement(dataDir), []);
  });
});

t.test('a search index that does not find messages is reported', async (t) => {
  const dataDir = tempFolder(t);
  const service = await startService(t, { dataDir });
  const owner = await service.workspace();
  const { id } = await service.chat(owner);
  await service.stop();
  const source = Database.openWriter(workspacePath(dataDir, owner.workspaceId), workspaceMigrations);
  t.teardown(() => source.close());
  source.begin();
  // More than a segment, since an incomplete segment is only in memory.
  for (let index = 0; index < segmentDocs + 100; index += 1) {
    source.run(`INSERT INTO message (id, conversationId, senderType, body, createdAt) VALUES (?, ?, 'visitor', ?, ?)`, [
      `m${index}`,
      id,
      `marmalade number ${index}`,
      new Date(Date.UTC(2030, 0, 1) + index).toISOString(),
    ]);
  }
  source.commit();
  const path = join(tempFolder(t), 'index.db');
  const index = SearchIndex.open(source, path);
  while (!index.advance() || !index.write());
  index.close();
  t.same(searchIndexFaults(source, path), []);
  const rows: [string, RegExp][] = [
    [`DELETE FROM posting WHERE word = 'marmalade'`, /finds messages by their words/],
    [`UPDATE segment SET lastId = 'other'`, /is this workspace's/],
    [`UPDATE conversation SET id = 'other'`, /finds messages by their words/],
    [`UPDATE segment SET lastDoc = firstDoc - 1`, /finds messages by their words/],
  ];
  for (const [sql, rule] of rows) {
    const broken = join(tempFolder(t), 'index.db');
    copyFileSync(path, broken);
    const db = Database.openDerived(broken, searchSchema);
    db.run(sql);
    db.close();
    t.ok(
      searchIndexFaults(source, broken).some((fault) => rule.test(fault.rule)),
      sql,
    );
  }
  for (const [version, left] of [
    [0, 'a kill before there was anything in it'],
    [searchSchema.version + 1, 'another version'],
  ] as const) {
    const other = join(tempFolder(t), 'index.db');
    Database.openDerived(other, { version, name: left, sql: 'CREATE TABLE other (id)' }).close();
    t.same(searchIndexFaults(source, other), [], `the index left by ${left} is rebuilt, and not a fault`);
  }
  writeFileSync(path, Buffer.alloc(20_000, 'no index'));
  t.match(searchIndexFaults(source, path), [{ rule: 'the search index can be read' }]);
});
