import t, { type Test } from 'tap';
import type { ConversationStatus } from '../../store/conversations/conversations.ts';
import { addThread } from '../support/conversations.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const find = (service: Service, token: string, query: Record<string, string | number>) =>
  service.get(
    `/conversations/search?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))}`,
    token,
  );

/** The ids found, in order. */
async function idsOf(
  service: Service,
  token: string,
  query: string | Record<string, string | number>,
): Promise<string[]> {
  const { status, body } = await find(service, token, typeof query === 'string' ? { q: query } : query);
  if (status !== 200) throw new Error(`a search was answered with ${status}: ${JSON.stringify(body)}`);
  return body.rows.map((row: { conversationId: string }) => row.conversationId);
}

t.test('what a search matches', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const say = (...messages: string[]) => addThread(service, owner.workspaceId, { messages });
  const refund = await say('I would like a refund for my Crème Brûlée, please.');
  const parcel = await say('Where is my parcel? It was ordered yesterday.');
  const number = await say('My order is 4471201.');

  const meets = async (t: Test, queries: readonly string[], expected: readonly string[]) => {
    for (const q of queries) t.same(new Set(await idsOf(service, owner.token, q)), new Set(expected), q);
  };

  t.test('[4.5 search] words in any order, case and diacritics ignored', async (t) => {
    await meets(
      t,
      [
        'refund',
        'REFUND',
        'like refund',
        'refund like',
        'creme brulee',
        'CRÈME brûlée',
        'brulee refund creme',
        'crème, brûlée!',
        '"refund"',
      ],
      [refund],
    );
    await meets(t, ['refund parcel', 'refunding', 'crepes'], []);
  });

  t.test('[4.5 search] one typo in a word of five letters or more: left out, added, replaced, exchanged', async (t) => {
    await meets(
      t,
      ['refnd', 'reefund', 'refumd', 'refnud', 'erfund', 'refundd', 'efund', 'refnud brulee', 'refnud bruleee'],
      [refund],
    );
    await meets(t, ['refnnud', 'rfnd', 'reffuund', 'dnufer'], []);
    await meets(t, ['wher parcel'], [parcel]);
  });

  t.test('[4.5 search] no typo in a shorter word, none in a number', async (t) => {
    await meets(t, ['lkie', 'fro', 'lije'], []);
    await meets(t, ['4471201'], [number]);
    await meets(t, ['4471202', '4471210', '44712011', '471201'], []);
  });

  t.test('[4.5 search] the last word is also a beginning, from two letters on, the others are not', async (t) => {
    await meets(t, ['ref', 're', 'creme br', 'refun', 'like refu'], [refund]);
    await meets(t, ['r', 'ref like', 'fund'], []);
    await meets(t, ['4471', '44'], [number]);
    await meets(t, ['orde'], [parcel, number]);
  });

  t.test('[4.5 search] every word must be met, in one message or in several', async (t) => {
    const scattered = await say('The zeppelin arrived.', 'It was late.', 'And the propeller is broken.');
    await meets(t, ['zeppelin propeller', 'late zeppelin', 'propeller zeppelin late'], [scattered]);
    await meets(t, ['zeppelin refund'], []);
  });

  t.test("[4.5 search] the visitor's name and email, as they are now", async (t) => {
    const customer = await service.customer(owner.embedId, { name: 'Zoë Müller', email: 'zoe.muller@quux.example' });
    const { body } = await service.post('/widget/conversations', { body: 'My kettle leaks.' }, customer.token);
    const { id } = body.conversation;
    await meets(
      t,
      [
        'zoe',
        'muller',
        'zoe muller',
        'muler',
        'zoe.muller@quux.example',
        'quux',
        'zoe kettle',
        'kettle zoe',
        'leaks quux',
      ],
      [id],
    );
    const [row] = (await find(service, owner.token, { q: 'muller' })).body.rows;
    t.match(
      row,
      { visitorName: 'Zoë Müller', visitorEmail: 'zoe.muller@quux.example', matchedBody: 'My kettle leaks.' },
      'the newest message represents a conversation found by its customer',
    );

    await service.patch('/widget/visitor', { name: 'Xenia Schulz' }, customer.token);
    await meets(t, ['xenia', 'schulz kettle', 'xenia quux'], [id]);
    await meets(t, ['zoe schulz'], [id]);
    await service.patch('/widget/visitor', { email: 'xenia@corge.example' }, customer.token);
    await meets(t, ['zoe', 'muller', 'quux', 'zoe kettle'], []);
    await meets(t, ['xenia corge kettle'], [id]);

    await service.post('/widget/sessions', {
      siteId: owner.embedId,
      visitorToken: customer.token,
      url: 'https://shop.example/',
      name: 'Ursula Vogt',
    });
    await meets(t, ['ursula', 'vogt corge'], [id]);
    await meets(t, ['schulz'], []);
  });

  t.test('[4.5 search] a ticket by its number, with and without its sign, and by words of its subject', async (t) => {
    const open = async (subject: string, body: string) =>
      (
        await service.post(
          '/tickets',
          { customerEmail: 'tess@ticket.example', customerName: 'Tess', subject, body },
          owner.token,
        )
      ).body;
    const first = await open('Zebra crossing', 'The paint is gone.');
    const second = await open('Other matters', 'Nothing of note.');
    const mention = await say(`Like order ${first.ticketNumber}, please. And ${first.ticketNumber}0.`);
    for (const q of [String(first.ticketNumber), `#${first.ticketNumber}`, `＃${first.ticketNumber}`])
      t.equal((await idsOf(service, owner.token, q))[0], first.id, `${q} comes first, also after later mentions`);
    t.ok((await idsOf(service, owner.token, String(first.ticketNumber))).includes(mention));
    t.match(
      (await find(service, owner.token, { q: `#${second.ticketNumber}`, channel: 'ticket' })).body.rows,
      [{ conversationId: second.id, subject: 'Other matters', matchedBody: 'Nothing of note.' }],
      'its newest message represents it',
    );
    await meets(
      t,
      ['zebra', 'ZEBR', 'zebar', 'crossing paint', 'paint zebra tess', `${first.ticketNumber} zebra`],
      [first.id],
    );
    await meets(t, ['zebra note', `${second.ticketNumber} zebra`], []);
    const outsider = await service.agent(owner, { channels: ['chats'] });
    t.equal((await find(service, outsider.token, { q: 'zebra' })).body.total, 0, 'an agent without the channel');
  });

  t.test("[4.5 search] the service's own lines are not found", async (t) => {
    const id = await say('The gramophone plays.');
    await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token);
    const { messages } = (await service.get(`/conversations/${id}/messages`, owner.token)).body;
    t.match(messages.at(-1), { senderType: 'system', body: /from open to pending/ });
    await meets(t, ['changed status'], []);
    await meets(t, ['gramophone'], [id]);
  });

  t.test('[4.5 search] notes are not messages', async (t) => {
    const id = await say('The harpsichord is out of tune.');
    await service.post(`/conversations/${id}/notes`, { body: 'A difficult xylophonist.' }, owner.token);
    await meets(t, ['xylophonist'], []);
  });

  t.test('[4.5 search] a message is found as soon as its 201 is out', async (t) => {
    const chat = await service.chat(owner, 'First of many.');
    for (let round = 0; round < 30; round += 1) {
      const word = `unheard${String.fromCharCode(97 + (round % 26))}${'z'.repeat(Math.floor(round / 26))}of`;
      const [path, token] =
        round % 2 === 0
          ? [`/conversations/${chat.id}/messages`, owner.token]
          : [`/widget/conversations/${chat.id}/messages`, chat.customer.token];
      t.equal((await service.post(path, { body: `So ${word} it is.` }, token)).status, 201);
      t.same(await idsOf(service, owner.token, word), [chat.id], word);
    }
  });

  t.test('[4.5 search] scripts without spaces are met by pairs of characters', async (t) => {
    const japanese = await say('注文した商品の返金をお願いします。iPhone15ケース');
    const chinese = await say('请问我的订单什么时候到？');
    const korean = await say('환불을 요청합니다');
    const thai = await say('ขอเงินคืนได้ไหม');
    await meets(
      t,
      ['返金', '商品の返金', '金', '返', '返金 商品', 'iphone15', 'ケース', 'iPhone15 返金', '。返金！'],
      [japanese],
    );
    await meets(t, ['订单', '我的订单', '到', '订单 时候'], [chinese]);
    await meets(t, ['환불', '환불을', '요청'], [korean]);
    await meets(t, ['เงินคืน'], [thai]);
    await meets(t, ['金返', '返品', '订时', '환을'], []);
    await meets(t, ['ｉＰｈｏｎｅ１５', 'ｹｰｽ', 'けーす'], [japanese]);
    const persian = await say('سفارش من كجاست؟ می\u200cخواهم بدانم');
    await meets(t, ['سفارش کجاست', 'میخواهم', 'می\u200cخواهم'], [persian]);
    const polish = await say('Pociąg do Łodzi, Żółć i Đakovo');
    await meets(t, ['pociag lodzi', 'zolc dakovo'], [polish]);
  });

  t.test('[4.5 search] q is words, never an expression', async (t) => {
    const id = await say('Near the NOT so quiet OR theatre, AND more: "col" body^2 *star* {curly} (paren) -minus');
    await meets(
      t,
      [
        'NEAR theatre',
        'near(theatre quiet)',
        '"NOT so quiet"',
        'quiet OR theatre',
        'body^2 star',
        '"theatre',
        'theatre"',
        "'theatre",
        'curly AND paren',
        '-minus',
        'theatre*',
        '**theatre**',
        'theatre\\',
      ],
      [id],
    );
    for (const q of [
      "'; DROP TABLE message; --",
      '" OR 1=1 --',
      '%',
      '_%_',
      'NEAR(',
      '*',
      'body:',
      'a AND',
      'NOT',
      '\u0000a',
      '👩‍👩‍👧 ok',
      '^',
      '((((',
      'a\'b"c',
    ]) {
      const { status } = await find(service, owner.token, { q });
      t.ok(status === 200 || (status === 400 && !/[\p{L}\p{N}]/u.test(q)), `${JSON.stringify(q)}: ${status}`);
    }
    await meets(
      t,
      ['%', '_'].map((sign) => `${sign} theatre ${sign}`),
      [id],
    );
    t.same(await idsOf(service, owner.token, 'th_atre theatre'), [], 'a sign between letters parts them');
  });

  t.test('[4.5 search] words of ten thousand characters are no harm', async (t) => {
    const long = 'x'.repeat(10_000);
    const id = await say(long, `${'ab'.repeat(4999)} tail`);
    await meets(t, ['x'.repeat(64), 'x'.repeat(200), 'xxxxx', 'tail'], [id]);
    const [row] = (await find(service, owner.token, { q: 'tail' })).body.rows;
    t.ok(row.matchedBody.endsWith('tail'));
    t.ok(row.matchedBody.length <= 202, 'an excerpt stays one');
  });
});

t.test('[4.5 search] the shape of a row', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId, { name: 'Anna Smith', email: 'anna@example.com' });
  const long = `${'Well, here is a story. '.repeat(40)}Then the marmalade exploded over my keyboard. ${'And so it went on. '.repeat(40)}`;
  const id = await addThread(service, owner.workspaceId, {
    visitorId: customer.visitorId,
    subject: 'A story',
    tags: ['vip', 'breakfast'],
    messages: ['Hello', long, 'Bye'],
  });
  const { body } = await find(service, owner.token, { q: 'marmalade' });
  const { updatedAt } = await service.conversation(id, owner.token);
  const [{ matchedBody, ...row }] = body.rows;
  t.same(row, {
    conversationId: id,
    version: 1,
    channel: 'chat',
    status: 'open',
    subject: 'A story',
    ticketNumber: null,
    updatedAt,
    visitorId: customer.visitorId,
    visitorName: 'Anna Smith',
    visitorEmail: 'anna@example.com',
    visitorPhoneE164: null,
    tags: ['vip', 'breakfast'],
  });
  t.equal(body.total, 1);
  t.match(matchedBody, /^…\S.*the marmalade exploded over my keyboard\..*\S…$/);
  t.ok(matchedBody.length <= 202);
  t.equal(
    (await find(service, owner.token, { q: 'bye' })).body.rows[0].matchedBody,
    'Bye',
    'a short message is shown whole',
  );
  t.equal((await find(service, owner.token, { q: 'anna hello' })).body.rows[0].matchedBody, 'Hello');
  await service.post(`/conversations/${id}/messages`, { body: 'Hello again' }, owner.token);
  t.equal(
    (await find(service, owner.token, { q: 'hello' })).body.rows[0].matchedBody,
    'Hello again',
    'the newest of the best',
  );
  await service.put(`/conversations/${id}/tags`, { tags: ['calm'] }, owner.token);
  t.match((await find(service, owner.token, { q: 'bye' })).body.rows[0], { version: 2, tags: ['calm'] });
});

t.test('[8] q and limit from both sides', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  for (let index = 0; index < 55; index += 1)
    await addThread(service, owner.workspaceId, { messages: [`Plenty of umbrellas ${index}`] });

  const refused = [
    {},
    { q: '' },
    { q: ' ' },
    { q: '?!' },
    { q: '🎉' },
    { q: '---' },
    { q: 'x'.repeat(201) },
    { q: 'ok', limit: 0 },
    { q: 'ok', limit: 51 },
    { q: 'ok', limit: -1 },
    { q: 'ok', limit: '1.5' },
    { q: 'ok', limit: 'all' },
    { q: 'ok', status: 'closed' },
    { q: 'ok', status: 'Open' },
    { q: 'ok', channel: 'chats' },
    { q: 'ok', tag: '' },
    { q: 'ok', from: 'yesterday' },
    { q: 'ok', from: '2026-01-01' },
    { q: 'ok', to: '2026-13-01T00:00:00Z' },
    { q: 'ok', to: '1767225600' },
  ];
  for (const query of refused)
    t.match(
      await find(service, owner.token, query as Record<string, string>),
      { status: 400, body: { error: 'invalid_query' } },
      JSON.stringify(query),
    );
  for (const query of [
    { q: 'x' },
    { q: 'x'.repeat(200) },
    { q: '🎉 1' },
    { q: 'ok', limit: 1 },
    { q: 'ok', limit: 50 },
  ])
    t.equal((await find(service, owner.token, query)).status, 200, JSON.stringify(query));

  t.match(
    (await find(service, owner.token, { q: 'umbrellas' })).body,
    { total: 55, rows: { length: 50 } },
    'fifty by default, all counted',
  );
  t.match((await find(service, owner.token, { q: 'umbrellas', limit: 1 })).body, { total: 55, rows: { length: 1 } });
  t.match((await find(service, owner.token, { q: 'umbrellas', limit: 50 })).body, { total: 55, rows: { length: 50 } });
  t.match(await find(service, '', { q: 'ok' }), { status: 401 });
  t.match(await service.get('/conversations/search?q=ok'), { status: 401, body: { error: 'unauthorized' } });
});

t.test('[4.5 search] filters', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const add = (said: Parameters<typeof addThread>[2]) =>
    addThread(service, owner.workspaceId, { messages: ['The walrus sings.'], ...said });
  const byStatus = new Map<ConversationStatus, string>();
  for (const status of ['open', 'pending', 'solved', 'spam', 'closed'] as const)
    byStatus.set(status, await add({ status, tags: [status] }));
  const ticket = await add({ channel: 'ticket', tags: ['Open', 'two words'] });
  const call = await add({ channel: 'call' });
  const chats = [...byStatus.values()];
  const all = [...chats, ticket, call];
  const found = async (query: Record<string, string | number>) =>
    new Set(await idsOf(service, owner.token, { q: 'walrus', ...query }));

  t.same(await found({}), new Set(all), 'every status and channel without a filter');
  for (const status of ['pending', 'solved', 'spam'] as const)
    t.same(await found({ status }), new Set([byStatus.get(status)]), status);
  t.same(await found({ status: 'open' }), new Set([byStatus.get('open'), ticket, call]));
  t.same(await found({ channel: 'chat' }), new Set(chats));
  t.same(await found({ channel: 'ticket' }), new Set([ticket]));
  t.same(await found({ channel: 'call', status: 'open' }), new Set([call]));
  t.same(await found({ channel: 'call', status: 'solved' }), new Set());
  for (const tag of ['open', 'OPEN'])
    t.same(await found({ tag }), new Set([byStatus.get('open'), ticket]), 'a tag in any case');
  t.same(await found({ tag: 'two words', channel: 'ticket' }), new Set([ticket]));
  t.same(await found({ tag: 'two' }), new Set(), 'a tag is the whole tag');

  await service.post(`/conversations/${byStatus.get('open')}/status`, { status: 'solved' }, owner.token);
  await service.put(`/conversations/${ticket}/tags`, { tags: ['moved'] }, owner.token);
  t.same(
    await found({ status: 'solved' }),
    new Set([byStatus.get('open'), byStatus.get('solved')]),
    'a changed one is found by its present text',
  );
  t.same(await found({ tag: 'moved' }), new Set([ticket]));
  t.same(await found({ tag: 'two words' }), new Set());

  t.test('from and to are inclusive, in any time zone', async (t) => {
    service.clock.advance(60_000);
    const id = await add({ messages: ['The ocelot sings.'] });
    const { updatedAt } = await service.conversation(id, owner.token);
    const ms = Date.parse(updatedAt);
    const at = (offsetMs: number) => new Date(ms + offsetMs).toISOString();
    const ocelots = async (query: Record<string, string>) =>
      (await find(service, owner.token, { q: 'ocelot', ...query })).body.total;
    t.equal(await ocelots({ from: at(0) }), 1);
    t.equal(await ocelots({ from: at(1) }), 0);
    t.equal(await ocelots({ to: at(0) }), 1);
    t.equal(await ocelots({ to: at(-1) }), 0);
    t.equal(await ocelots({ from: at(0), to: at(0) }), 1);
    t.equal(await ocelots({ from: at(1), to: at(-1) }), 0);
    const inTokyo = `${new Date(ms + 9 * 3600_000).toISOString().slice(0, -1)}+09:00`;
    t.equal(await ocelots({ from: inTokyo, to: inTokyo }), 1);
    service.clock.advance(60_000);
    await service.post(`/conversations/${id}/messages`, { body: 'So be it.' }, owner.token);
    t.equal(await ocelots({ to: at(0) }), 0, 'a message updates it');
    t.equal(await ocelots({ from: at(1) }), 1);
  });
});

t.test('[4.5 search] best match first', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const add = async (...messages: string[]) => {
    service.clock.advance(1000);
    return addThread(service, owner.workspaceId, { messages });
  };
  const together = await add('The violin string broke.');
  const scattered = await add('The violin arrived.', 'One string was missing.');
  const misspelt = await add('The violim string broke.');
  const longer = await add('The violin strings broke.');
  const newer = await add('Another violin, another string.');
  const expected = [newer, together, scattered, longer, misspelt];
  t.same(
    await idsOf(service, owner.token, 'violin string'),
    expected,
    'as written, then longer, then misspelt; together before scattered; newer before older',
  );
  t.same(await idsOf(service, owner.token, 'violin string'), expected, 'and again');
  t.same(await idsOf(service, owner.token, { q: 'violin string', limit: 2 }), expected.slice(0, 2));

  service.clock.advance(1000);
  await service.post(`/conversations/${together}/messages`, { body: 'Noted.' }, owner.token);
  t.same(
    (await idsOf(service, owner.token, 'violin string')).slice(0, 2),
    [together, newer],
    'the last updated comes first among equals',
  );

  const twins = [];
  for (let index = 0; index < 5; index += 1)
    twins.push(await addThread(service, owner.workspaceId, { messages: ['A bassoon.'] }));
  t.same(await idsOf(service, owner.token, 'bassoon'), twins.reverse(), 'and where that is the same, the last begun');
});

t.test('[5] an agent finds what it may see', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const other = await service.workspace();
  const { body: sales } = await service.post('/departments', { name: 'Sales' }, owner.token);
  const { body: support } = await service.post('/departments', { name: 'Support' }, owner.token);
  const salesAgent = await service.agent(owner, { groupIds: [sales.id] });
  const supervisor = await service.agent(owner, { role: 'supervisor', groupIds: [support.id] });
  const chatAgent = await service.agent(owner, { channels: ['chats'] });
  const idle = await service.agent(owner);
  await service.patch(`/agents/${idle.agentId}`, { channels: [] }, owner.token);
  const add = (said: Parameters<typeof addThread>[2]) =>
    addThread(service, owner.workspaceId, { messages: ['The platypus dances.'], ...said });
  const free = await add({});
  const inSales = await add({ departmentId: sales.id });
  const inSupport = await add({ departmentId: support.id });
  const salesTicket = await add({ departmentId: sales.id, channel: 'ticket' });
  const call = await add({ channel: 'call' });
  const assigned = await add({ departmentId: support.id, assignedAgentId: salesAgent.agentId });
  const offered = await add({
    departmentId: support.id,
    handshake: {
      toAgentId: chatAgent.agentId,
      initiatedByAgentId: owner.agentId,
      previousAgentId: null,
      note: null,
      expiresAt: '2099-01-01T00:00:00.000Z',
    },
  });
  const foreign = await addThread(service, other.workspaceId, { messages: ['The platypus dances elsewhere.'] });
  const sees = async (t: Test, person: Person, expected: string[], q = 'platypus') => {
    const { body } = await find(service, person.token, { q });
    t.same(new Set(body.rows.map((row: { conversationId: string }) => row.conversationId)), new Set(expected));
    t.equal(body.total, expected.length, 'and total counts no others');
  };

  t.test('an admin everything of its workspace and nothing of another', async (t) => {
    await sees(t, owner, [free, inSales, inSupport, salesTicket, call, assigned, offered]);
    await sees(t, other, [foreign]);
    await sees(t, owner, [], 'platypus elsewhere');
  });
  t.test('others find conversations of their departments, of none, or their own', async (t) => {
    await sees(t, salesAgent, [free, inSales, salesTicket, call, assigned]);
    await sees(t, supervisor, [free, call, inSupport, assigned, offered]);
  });
  t.test('in their channels', async (t) => {
    await sees(t, chatAgent, [free, offered]);
    await sees(t, idle, []);
    t.same(await idsOf(service, chatAgent.token, { q: 'platypus', channel: 'ticket' }), []);
  });
  t.test('as it is at that moment', async (t) => {
    const { version } = await service.conversation(inSupport, owner.token);
    await service.post(
      `/conversations/${inSupport}/assign-to-department`,
      { departmentId: sales.id, expectedVersion: version },
      owner.token,
    );
    await sees(t, salesAgent, [free, inSales, inSupport, salesTicket, call, assigned]);
    await service.patch(`/agents/${salesAgent.agentId}`, { channels: ['tickets'] }, owner.token);
    await sees(t, salesAgent, [salesTicket]);
    await service.patch(`/agents/${salesAgent.agentId}`, { groupIds: [] }, owner.token);
    await sees(t, salesAgent, []);
  });
  t.test('a deleted department leaves its conversations to everyone, solved ones too', async (t) => {
    const solved = await add({ departmentId: support.id, status: 'solved' });
    await sees(t, chatAgent, [free, offered]);
    await service.delete(`/departments/${support.id}`, owner.token);
    await sees(t, chatAgent, [free, offered, assigned, solved]);
  });
  t.test('[6] over a socket as well', async (t) => {
    const socket = await service.agentSocket(chatAgent.token);
    const { status, body } = await socket.call('conversation.search', { q: 'platypus', limit: 1 });
    t.equal(status, 200);
    t.equal(body.total, 4);
    t.equal(body.rows.length, 1);
    t.match(await socket.call('conversation.search', { q: '?' }), { status: 400, body: { error: 'invalid_query' } });
    await socket.close();
  });
  t.test('a deactivated agent nothing', async (t) => {
    await service.delete(`/agents/${idle.agentId}`, owner.token);
    t.match(await find(service, idle.token, { q: 'platypus' }), { status: 401, body: { error: 'token_revoked' } });
  });
});
