import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { randomFrom } from '../support/seeded.ts';
import { type Service, startService } from '../support/service.ts';

const unlimited = { RATE_LIMITS: 'off' };

/** Every message of a conversation, page by page from the newest to the oldest. */
async function readAll(
  service: Service,
  id: string,
  token: string,
  options: { limit: number; path?: string },
): Promise<{ messages: any[]; pages: number }> {
  const pages: any[][] = [];
  let before: string | null = null;
  do {
    const { status, body }: { status: number; body: any } = await service.get(
      `/${options.path ?? 'conversations'}/${id}/messages?limit=${options.limit}${before === null ? '' : `&before=${before}`}`,
      token,
    );
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    pages.unshift(body.messages);
    before = body.nextCursor;
  } while (before !== null);
  return { messages: pages.flat(), pages: pages.length };
}

function strictlyIncreasing(messages: readonly { createdAt: string }[]): boolean {
  return messages.every((message, index) => index === 0 || message.createdAt > (messages[index - 1]?.createdAt ?? ''));
}

t.test('the order of messages', async (t) => {
  const service = await startService(t, { env: unlimited });
  const owner = await service.workspace();

  t.test(
    '[4.5] 200 sent at once, with a clock that does not move, never share a createdAt, and are read in the order of their answers',
    async (t) => {
      const chat = await service.chat(owner);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          index % 2 === 0
            ? service.post(`/conversations/${chat.id}/messages`, { body: `agent ${index}` }, owner.token)
            : service.post(
                `/widget/conversations/${chat.id}/messages`,
                { body: `customer ${index}` },
                chat.customer.token,
              ),
        ),
      );
      t.ok(answers.every(({ status }) => status === 201));
      const { messages } = await readAll(service, chat.id, owner.token, { limit: 200 });
      t.equal(messages.length, 201);
      t.ok(strictlyIncreasing(messages));
      const sent = answers.map(({ body }) => body).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
      t.strictSame(messages.slice(1), sent, 'each once, as it was answered');
    },
  );

  t.test("[4.5] one sender's messages keep the order in which they were answered", async (t) => {
    const chat = await service.chat(owner, '0');
    for (let index = 1; index < 30; index += 1)
      await service.post(`/widget/conversations/${chat.id}/messages`, { body: String(index) }, chat.customer.token);
    const { messages } = await readAll(service, chat.id, owner.token, { limit: 7 });
    t.strictSame(
      messages.map((one) => one.body),
      Array.from({ length: 30 }, (_, index) => String(index)),
    );
  });

  t.test('[4.5] a tie is bumped by a millisecond, and time catches up', async (t) => {
    const chat = await service.chat(owner, 'a');
    const now = service.clock.now();
    const second = await service.post(`/conversations/${chat.id}/messages`, { body: 'b' }, owner.token);
    t.equal(Date.parse(second.body.createdAt), now + 1);
    service.clock.advance(1000);
    const third = await service.post(`/conversations/${chat.id}/messages`, { body: 'c' }, owner.token);
    t.equal(Date.parse(third.body.createdAt), now + 1000);
    service.clock.jump(3600_000);
    const fourth = await service.post(`/conversations/${chat.id}/messages`, { body: 'd' }, owner.token);
    t.equal(Date.parse(fourth.body.createdAt), now + 3601_000, 'a clock set forward is followed');
  });
});

t.test('[4.5] after a restart with the clock set back, the order continues', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startService(t, { dataDir, clock: new ManualClock('2026-11-20T12:00:00.000Z') });
  const owner = await first.workspace();
  const chat = await first.chat(owner, 'before');
  const before = await first.conversation(chat.id, owner.token);
  await first.stop();

  const second = await startService(t, { dataDir, clock: new ManualClock('2026-11-20T09:00:00.000Z') });
  const socket = await second.agentSocket(owner.token);
  await second.post(`/conversations/${chat.id}/messages`, { body: 'after' }, owner.token);
  await second.put(`/conversations/${chat.id}/tags`, { tags: ['late'] }, owner.token);
  const { messages } = await readAll(second, chat.id, owner.token, { limit: 50 });
  t.strictSame(
    messages.map((one) => one.body),
    ['before', 'after'],
  );
  t.ok(strictlyIncreasing(messages));
  t.ok((await second.conversation(chat.id, owner.token)).updatedAt >= before.updatedAt, 'updatedAt does not go back');
  t.equal((await socket.next('message.created')).data.message.body, 'after');
});

t.test('pages of messages', async (t) => {
  const service = await startService(t, { env: unlimited });
  const owner = await service.workspace();
  const chat = await service.chat(owner, '0');
  for (let index = 1; index < 230; index += 1) {
    if (index % 10 === 0) service.clock.advance(index);
    await service.post(`/conversations/${chat.id}/messages`, { body: String(index) }, owner.token);
  }
  const page = (query: string) => service.get(`/conversations/${chat.id}/messages${query}`, owner.token);

  t.test('[8] limit: 50 by default, 1 to 200, otherwise 400 invalid_query', async (t) => {
    const rows: [string, number | undefined][] = [
      ['', 50],
      ['?limit=1', 1],
      ['?limit=50', 50],
      ['?limit=200', 200],
      ['?limit=0', undefined],
      ['?limit=-1', undefined],
      ['?limit=201', undefined],
      ['?limit=1.5', undefined],
      ['?limit=x', undefined],
      ['?limit=', undefined],
      ['?limit=1&limit=2', undefined],
    ];
    for (const [query, count] of rows) {
      const { status, body } = await page(query);
      if (count === undefined)
        t.match(
          { status, body },
          { status: 400, body: { error: 'invalid_query', detail: { fieldErrors: { limit: [String] } } } },
          query,
        );
      else t.equal(body.messages.length, count, query);
    }
  });

  t.test(
    '[4.5] the first page is the newest, oldest first within it; nextCursor is its first createdAt, null at the beginning',
    async (t) => {
      const { body } = await page('?limit=3');
      t.strictSame(
        body.messages.map((one: any) => one.body),
        ['227', '228', '229'],
      );
      t.equal(body.nextCursor, body.messages[0].createdAt);
      const older = (await page(`?limit=3&before=${body.nextCursor}`)).body;
      t.strictSame(
        older.messages.map((one: any) => one.body),
        ['224', '225', '226'],
        'before is exclusive',
      );
      const { messages } = (await page('?limit=200')).body;
      t.equal(
        (await page(`?limit=30&before=${messages[0].createdAt}`)).body.nextCursor,
        null,
        'exactly the rest: no further page',
      );
      t.equal((await page(`?limit=29&before=${messages[0].createdAt}`)).body.messages.length, 29);
      t.strictSame((await page('?before=2000-01-01T00:00:00.000Z')).body, { messages: [], nextCursor: null });
    },
  );

  t.test('[4.5] before is a moment, however it is spelt', async (t) => {
    const { messages } = (await page('?limit=20')).body;
    const at = messages[10].createdAt;
    const expected = (await page(`?limit=5&before=${at}`)).body;
    const ms = Date.parse(at);
    const plusTwo = new Date(ms + 2 * 3600_000).toISOString().replace('Z', '+02:00');
    for (const spelt of [
      plusTwo,
      at.replace('T', 't').replace('Z', 'z'),
      at.replace('Z', '+00:00'),
      at.replace('Z', '-00:00'),
    ]) {
      t.strictSame((await page(`?limit=5&before=${encodeURIComponent(spelt)}`)).body, expected, spelt);
    }
    const second = new Date(Math.ceil(ms / 1000) * 1000).toISOString();
    t.strictSame(
      (await page(`?before=${second.replace('.000Z', 'Z')}`)).body,
      (await page(`?before=${second}`)).body,
      'without a fraction',
    );
    for (const bad of [
      'yesterday',
      '1700000000000',
      '2026-13-01T00:00:00Z',
      '2026-11-20',
      '2026-11-20T23:59:60Z',
      '',
    ]) {
      t.match(
        await page(`?before=${bad}`),
        { status: 400, body: { error: 'invalid_query', detail: { fieldErrors: { before: [String] } } } },
        bad,
      );
    }
  });

  t.test('[4.5] pages of every size lose none and repeat none', async (t) => {
    const whole = (await readAll(service, chat.id, owner.token, { limit: 200 })).messages;
    t.strictSame(
      whole.map((one) => one.body),
      Array.from({ length: 230 }, (_, index) => String(index)),
    );
    for (const limit of [1, 2, 7, 23, 46, 115, 199]) {
      const { messages, pages } = await readAll(service, chat.id, owner.token, { limit });
      t.strictSame(messages, whole, `by ${limit}`);
      t.equal(pages, Math.ceil(230 / limit));
    }
  });
});

t.test('[4.5] property: while others write, pages neither lose nor repeat earlier messages', async (t) => {
  const service = await startService(t, { env: unlimited });
  const owner = await service.workspace();
  for (const seed of [1, 2, 3, 4, 5]) {
    const random = randomFrom(seed);
    const chat = await service.chat(owner, 'first');
    const write = async (): Promise<void> => {
      if (random.below(3) === 0) service.clock.advance(random.below(20));
      const kind = random.below(4);
      if (kind === 0)
        await service.put(`/conversations/${chat.id}/tags`, { tags: [String(random.below(1000))] }, owner.token);
      else if (kind === 1)
        await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'customer' }, chat.customer.token);
      else if (kind === 2)
        await service.post(
          `/conversations/${chat.id}/status`,
          { status: random.pick(['open', 'pending']) },
          owner.token,
        );
      else await service.post(`/conversations/${chat.id}/messages`, { body: 'agent' }, owner.token);
    };
    for (let count = 0; count < 40; count += 1) await write();
    const there = (await readAll(service, chat.id, owner.token, { limit: 200 })).messages;
    const limit = 1 + random.below(9);
    const [{ messages }] = await Promise.all([
      readAll(service, chat.id, owner.token, { limit }),
      ...Array.from({ length: 10 }, write),
    ]);
    t.ok(strictlyIncreasing(messages), `seed ${seed}`);
    const ids = messages.map((one) => one.id);
    t.equal(new Set(ids).size, ids.length, `seed ${seed}: none twice`);
    t.strictSame(
      messages.slice(0, there.length).map((one) => one.id),
      there.map((one) => one.id),
      `seed ${seed}: none lost`,
    );
    const { messages: forCustomer } = await readAll(service, chat.id, chat.customer.token, {
      limit,
      path: 'widget/conversations',
    });
    t.strictSame(
      forCustomer.map((one) => one.id),
      (await readAll(service, chat.id, owner.token, { limit: 200 })).messages
        .filter((one) => one.senderType !== 'system')
        .map((one) => one.id),
      `seed ${seed}: the customer's pages hold everything but the system's lines`,
    );
  }
});
