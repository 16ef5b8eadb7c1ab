// The bench of sends compares the service with a reference that writes the same rows.

import { join } from 'node:path';
import t, { type Test } from 'tap';
import { messageText } from '../../bench/messages.ts';
import { startReference } from '../../bench/process.ts';
import { Database } from '../../store/database.ts';
import { tempFolder } from '../support/folder.ts';
import { startService } from '../support/service.ts';

t.setTimeout(120_000);

t.test('[sends] the reference writes and answers what the service does for an assigned chat', async (t) => {
  process.env['BENCH_DIR'] = tempFolder(t);
  t.teardown(() => delete process.env['BENCH_DIR']);
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const reference = await startReference();
  try {
    const toService = (): Promise<{ body: object }> =>
      service.post(`/conversations/${chat.id}/messages`, { body: messageText }, owner.token);
    const toReference = async (): Promise<{ body: object }> => {
      const answer = await fetch(`${reference.url}/lane/0/0`, { method: 'POST', body: messageText });
      return { body: (await answer.json()) as object };
    };
    await service.post(`/conversations/${chat.id}/take`, {}, owner.token);
    for (const send of [toService, toReference]) await send();
    await service.pass(1000);
    const [ofService, ofReference] = [
      await written(t, join(service.dataDir, 'workspaces', `${owner.workspaceId}.db`), toService),
      await written(t, join(reference.dataDir, 'lane-0.db'), toReference),
    ];
    t.same(ofReference, ofService);
  } finally {
    await reference.stop();
  }
});

/** How many rows one more message adds to each table, and the shape of the rows that it writes and of its answer. */
async function written(t: Test, path: string, send: () => Promise<{ body: object }>): Promise<object> {
  const db = Database.openReader(path);
  t.teardown(() => db.close());
  const tables = db
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .map(({ name }) => name);
  const counts = (): number[] =>
    tables.map((table) => db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0);
  const before = counts();
  const { body } = await send();
  const added = counts().map((count, index) => count - (before[index] ?? 0));
  const conversationId = 'conversationId' in body ? String(body.conversationId) : '';
  return {
    added: Object.fromEntries(tables.map((table, index) => [table, added[index]]).filter(([, count]) => count !== 0)),
    answer: shapeOf(body),
    message: shapeOf(db.get('SELECT * FROM message ORDER BY rowid DESC LIMIT 1')),
    event: shapeOf(db.get('SELECT * FROM event ORDER BY seq DESC LIMIT 1')),
    conversation: shapeOf(db.get('SELECT * FROM conversation WHERE id = ?', [conversationId])),
  };
}

/** Without ids, times and numbers. */
function shapeOf(row: object | undefined): object {
  return JSON.parse(
    JSON.stringify(row ?? null)
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replaceAll(/\d+/g, '0'),
  ) as object;
}
