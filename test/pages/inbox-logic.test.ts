// The inbox's logic without a browser: records, events and answers in any order become one state, the items of a
// timeline, links in a text, the choice of a saved reply, the positions of rows in a long list.

import t from 'tap';
import { Heights } from '../../http/pages/design/heights.ts';
import { Slots } from '../../http/pages/design/slots.ts';
import { ListWindow } from '../../http/pages/inbox/list-window.ts';
import { documentOf, markdownOf } from '../../http/pages/inbox/mail/editor-text.ts';
import { isUnread, newestOf, withMessage, withRead } from '../../http/pages/inbox/merging.ts';
import { piecesOf, splitQuoted } from '../../http/pages/inbox/quoting.ts';
import { SortedRows } from '../../http/pages/inbox/sorted-rows.ts';
import { itemsOf, markRead, mergeMessages, mergeNotes } from '../../http/pages/inbox/timeline.ts';
import type { Conversation, Message, MessageMail, Note } from '../../http/pages/records.ts';
import { randomFrom } from '../support/seeded.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9) + second * 1000).toISOString();

function conversation(fields: Partial<Conversation> = {}): Conversation {
  return {
    id: 'c',
    version: 1,
    channel: 'chat',
    status: 'open',
    subject: null,
    ticketNumber: null,
    siteId: null,
    visitorId: 'v',
    contactId: null,
    departmentId: null,
    assignedAgentId: null,
    tags: [],
    handshake: null,
    copiedTo: [],
    rating: null,
    ratingComment: null,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    preview: null,
    lastMessageAt: null,
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: null,
    snoozedUntil: null,
    lastCustomerMessageAt: null,
    agentsReadUpTo: null,
    firstResponseAt: null,
    solvedAt: null,
    closedAt: null,
    createdAt: at(0),
    updatedAt: at(0),
    ...fields,
  };
}

function message(id: string, second: number, fields: Partial<Message> = {}): Message {
  return {
    id,
    conversationId: 'c',
    senderType: 'visitor',
    senderId: 'v',
    body: id,
    bodyHtml: id,
    attachments: [],
    deliveryStatus: null,
    threading: null,
    mail: null,
    readAt: null,
    createdAt: at(second),
    ...fields,
  };
}

function permutations<Value>(values: readonly Value[]): Value[][] {
  return values.length < 2
    ? [[...values]]
    : values.flatMap((value, index) =>
        permutations(values.filter((_, other) => other !== index)).map((rest) => [value, ...rest]),
      );
}

t.test('records of a conversation in any order become the newest one', async (t) => {
  const records = [
    conversation(),
    conversation({ version: 2, status: 'pending', updatedAt: at(2) }),
    conversation({
      version: 2,
      status: 'pending',
      updatedAt: at(3),
      lastMessageAt: at(3),
      lastCustomerMessageAt: at(3),
      preview: 'third',
    }),
    conversation({
      version: 3,
      status: 'solved',
      solvedAt: at(4),
      updatedAt: at(4),
      lastMessageAt: at(3),
      lastCustomerMessageAt: at(3),
      preview: 'third',
      agentsReadUpTo: at(3),
    }),
  ];
  for (const order of permutations(records))
    t.strictSame(
      order.slice(1).reduce((known, come) => newestOf(known, come), order[0] ?? conversation()),
      records[3],
    );
});

t.test('an answer that is older than the events before it takes nothing back', async (t) => {
  const stale = conversation({ version: 2, status: 'pending', updatedAt: at(1) });
  const told = withRead(withMessage(conversation({ version: 1, updatedAt: at(0) }), message('m', 5)), {
    conversationId: 'c',
    senderType: 'visitor',
    readUpTo: at(5),
    readAt: at(6),
    count: 1,
  });
  for (const merged of [newestOf(told, stale), newestOf(stale, told)]) {
    t.match(merged, {
      version: 2,
      status: 'pending',
      preview: 'm',
      lastMessageAt: at(5),
      lastCustomerMessageAt: at(5),
      agentsReadUpTo: at(5),
      updatedAt: at(5),
    });
  }
});

t.test('unread means customer messages after the last read by an agent; system lines do not count', async (t) => {
  let known = withMessage(conversation(), message('one', 1));
  t.ok(isUnread(known));
  known = withRead(known, { conversationId: 'c', senderType: 'visitor', readUpTo: at(1), readAt: at(2), count: 1 });
  t.notOk(isUnread(known));
  known = withMessage(known, message('answer', 3, { senderType: 'agent' }));
  t.notOk(isUnread(known));
  known = withMessage(known, message('It was solved', 4, { senderType: 'system' }));
  t.match(known, { preview: 'answer', lastMessageAt: at(3), updatedAt: at(4) });
  t.notOk(
    isUnread(withRead(known, { conversationId: 'c', senderType: 'agent', readUpTo: at(3), readAt: at(3), count: 1 })),
    "the customer's read mark is separate",
  );
  t.ok(isUnread(withMessage(known, message('two', 5))));
});

t.test('a reverted mark stays so, whatever the order of records and events', async (t) => {
  const before = conversation({ updatedAt: at(5), lastMessageAt: at(5), lastCustomerMessageAt: at(5) });
  const read = { ...before, agentsReadUpTo: at(5) };
  const unread = { ...read, updatedAt: at(8), agentsReadUpTo: at(4) };
  for (const order of permutations([before, read, unread]))
    t.strictSame(
      order.slice(1).reduce((known, come) => newestOf(known, come), order[0] ?? before),
      unread,
    );
  t.ok(isUnread(newestOf(read, unread)));
  const again = withRead(unread, {
    conversationId: 'c',
    senderType: 'visitor',
    readUpTo: at(5),
    readAt: at(9),
    count: 1,
  });
  t.notOk(isUnread(again));
  for (const late of [newestOf(again, unread), newestOf(unread, again)])
    t.notOk(isUnread(late), 'an answer from before it was read again takes nothing back');
  const within = { ...unread, updatedAt: read.updatedAt };
  t.ok(
    isUnread(newestOf(read, within, { isFromEvent: true })),
    'a change within the same moment applies if it comes by an event',
  );
  t.notOk(
    isUnread(newestOf(read, { ...within, updatedAt: at(4) }, { isFromEvent: true })),
    'a repeated one, after later ones, does not',
  );
});

t.test('messages are stored once, in order, however they arrive', async (t) => {
  const [one, two, three] = [message('one', 1), message('two', 2), message('three', 3)];
  for (const order of permutations([one, two, three, two])) {
    const merged = order.reduce<readonly Message[]>((known, come) => mergeMessages(known, [come]), []);
    t.strictSame(
      merged.map(({ id }) => id),
      ['one', 'two', 'three'],
    );
  }
  const page = mergeMessages([three], [one, two, three]);
  t.strictSame(
    page.map(({ id }) => id),
    ['one', 'two', 'three'],
    'an older page',
  );
});

t.test('late events never undo read or delivered', async (t) => {
  const queued = message('m', 1, { senderType: 'agent', deliveryStatus: 'queued' });
  const sent = { ...queued, deliveryStatus: 'sent' as const };
  const read = { ...sent, readAt: at(4) };
  for (const order of permutations([queued, sent, read]))
    t.strictSame(
      order.reduce<readonly Message[]>((known, come) => mergeMessages(known, [come]), []),
      [read],
    );
  const marked = markRead(
    [message('a', 1, { senderType: 'agent' }), message('b', 2), message('c', 3, { senderType: 'agent' })],
    { senderType: 'agent', readUpTo: at(2), readAt: at(9) },
  );
  t.strictSame(
    marked.map(({ readAt }) => readAt),
    [at(9), null, null],
  );
});

t.test('late events never undo what is known of a delay', async (t) => {
  const mail = {
    from: { address: 'shop@example.com', name: null },
    copiedTo: [],
    authentication: null,
  } as unknown as MessageMail;
  const queued = message('m', 1, { senderType: 'agent', deliveryStatus: 'queued', mail });
  const busy = { ...queued, mail: { ...mail, delayed: { answer: '451 busy', at: at(2) } } };
  const full = { ...queued, mail: { ...mail, delayed: { answer: '452 full', at: at(3) } } };
  const sent = { ...queued, deliveryStatus: 'sent' as const };
  const merged = (order: readonly Message[]) =>
    order.reduce<readonly Message[]>((known, come) => mergeMessages(known, [come]), []);
  for (const order of permutations([queued, busy, full])) t.strictSame(merged(order), [full]);
  for (const order of permutations([queued, busy, sent])) t.strictSame(merged(order), [sent]);
});

t.test('an unsent message is shown once: before, between and after its event and its answer', async (t) => {
  const outgoing = {
    id: 'sent',
    conversationId: 'c',
    kind: 'message' as const,
    body: 'Hello',
    attachments: [],
    writtenAtMs: Date.parse(at(5)),
    state: 'pending' as const,
  };
  const arrived = message('sent', 6, { senderType: 'agent', senderId: 'a', body: 'Hello' });
  const shown = (messages: readonly Message[], onTheirWay: readonly (typeof outgoing)[]) =>
    itemsOf({ messages, notes: [], outgoing: onTheirWay, from: undefined })
      .filter(({ key }) => key === 'sent')
      .map(({ kind }) => kind);
  t.strictSame(shown([message('x', 1)], [outgoing]), ['outgoing']);
  t.strictSame(shown([message('x', 1), arrived], [outgoing]), ['message'], 'the event before the answer');
  t.strictSame(shown(mergeMessages([message('x', 1), arrived], [arrived]), []), ['message'], 'then the answer');
  t.strictSame(
    shown(mergeMessages([message('x', 1)], [arrived]), [outgoing]),
    ['message'],
    'the answer before the event',
  );
});

t.test('a timeline: days, groups of one sender, notes and lines in their places', async (t) => {
  const note: Note = {
    id: 'note',
    conversationId: 'c',
    visitorId: null,
    authorAgentId: 'a',
    authorName: 'Ann',
    authorAvatarUrl: null,
    body: 'n',
    createdAt: at(65),
    updatedAt: at(65),
  };
  const messages = [
    message('one', 0),
    message('two', 60),
    message('three', 70),
    message('later', 1000),
    message('line', 1001, { senderType: 'system' }),
    message('next day', 90_000),
  ];
  const items = itemsOf({ messages, notes: [note], outgoing: [], from: undefined });
  t.strictSame(
    items.map((item) =>
      item.kind === 'message' ? `${item.key}${item.isFirst ? ' first' : ''}${item.isLast ? ' last' : ''}` : item.kind,
    ),
    [
      'day',
      'one first',
      'two last',
      'note',
      'three first last',
      'later first last',
      'line',
      'day',
      'next day first last',
    ],
  );
  t.notOk(
    itemsOf({ messages, notes: [note], outgoing: [], from: at(66) }).some(({ kind }) => kind === 'note'),
    'a note of a part that is not read yet',
  );
  t.strictSame(
    mergeNotes([{ ...note, updatedAt: at(80), body: 'new' }], [note]).map(({ body }) => body),
    ['new'],
  );
});

t.test('property: rows stay in order through any changes', async (t) => {
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = randomFrom(seed);
    const isOldestFirst = seed % 2 === 0;
    const rows = new SortedRows({ isOldestFirst });
    const model = new Map<string, string>();
    for (let step = 0; step < 300; step += 1) {
      const id = `c${random.below(40)}`;
      const place = random.chance(0.25) ? undefined : at(random.below(30));
      if (rows.put(id, place) !== (model.get(id) !== place))
        t.fail(`seed ${seed}: a change that is none, or the other way round`);
      if (place === undefined) model.delete(id);
      else model.set(id, place);
    }
    const expected = [...model]
      .map(([id, place]) => ({ id, at: place }))
      .sort((a, b) => (a.at === b.at ? (a.id > b.id ? -1 : 1) : a.at > b.at ? -1 : 1));
    if (isOldestFirst) expected.reverse();
    t.strictSame(rows.rows, expected, `seed ${seed}`);
    t.strictSame(
      expected.map(({ id }) => rows.indexOf(id)),
      expected.map((_, index) => index),
    );
    t.equal(rows.indexOf('nobody'), -1);
  }
});

t.test('property: a window holds the whole list down to its end, whatever changes while its pages are read', (t) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = randomFrom(seed);
    const isOldestFirst = seed % 2 === 0;
    const whole = new SortedRows({ isOldestFirst });
    const window = new ListWindow({ isOldestFirst });
    // What the page knows: the rows of its pages and those that events named.
    const known = new Map<string, string | undefined>();
    const placeOf = (): string => at(random.below(60));
    for (let id = 0; id < 60; id += 1) whole.put(`c${id}`, random.chance(0.8) ? placeOf() : undefined);
    let read: { rows: { id: string; at: string }[]; isLast: boolean } | undefined;
    let end: { id: string; at: string } | undefined;
    let isWhole = false;
    const ask = (): void => {
      const after =
        end === undefined ? -1 : whole.rows.findIndex((row) => end !== undefined && whole.isBefore(end, row));
      const from = end === undefined ? 0 : after < 0 ? whole.rows.length : after;
      const rows = whole.rows.slice(from, from + 7);
      read = { rows: [...rows], isLast: from + 7 >= whole.rows.length };
    };
    const answer = ({ rows, isLast }: NonNullable<typeof read>): void => {
      // What an event said since is newer.
      for (const { id, at: place } of rows) if (!known.has(id)) known.set(id, place);
      end = rows.at(-1) ?? end;
      isWhole = isLast;
      window.endAt(isLast ? undefined : end);
      for (const [id, place] of known) window.put(id, place);
      read = undefined;
    };
    for (let step = 0; step < 120; step += 1) {
      if (random.chance(0.25)) {
        if (read !== undefined) answer(read);
        else if (!isWhole) ask();
      } else {
        const id = `c${random.below(70)}`;
        const place = random.chance(0.2) ? undefined : random.chance(0.5) ? at(60 + step) : placeOf();
        whole.put(id, place);
        known.set(id, place);
        window.put(id, place);
      }
      const expected = whole.rows.filter((row) => window.covers(row));
      if (JSON.stringify(window.rows) !== JSON.stringify(expected)) {
        t.strictSame(window.rows, expected, `seed ${seed}, step ${step}`);
        return t.end();
      }
    }
    while (!isWhole) {
      if (read === undefined) ask();
      if (read !== undefined) answer(read);
    }
    t.strictSame(window.rows, whole.rows, `seed ${seed}: read to the end`);
    const last = whole.rows[3];
    if (last === undefined) continue;
    window.endAt(last);
    t.strictSame(window.rows, whole.rows.slice(0, 4), 'a nearer end drops what is below');
    window.clear();
    t.notOk(window.put('c1', at(0)) || window.rows.length > 0, 'nothing is held before a page is read');
  }
  return t.end();
});

t.test(
  "property: a row that stays visible keeps its element, a new one takes that of one that left, and the focused row's is never reused",
  async (t) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = randomFrom(seed);
      const slots = new Slots();
      let made = 0;
      for (let step = 0; step < 200; step += 1) {
        const before = new Map(slots.drawn.map(({ key, slot }) => [key, slot]));
        const from = random.below(60);
        // Rows also change places.
        const keys = new Set(
          Array.from(
            { length: 1 + random.below(12) },
            (_, index) => `k${random.chance(0.1) ? random.below(80) : from + index}`,
          ),
        );
        const wanted = [...keys].map((key, index) => ({ key, index }));
        const pinned = random.chance(0.5) ? [...before.keys()][random.below(before.size + 1)] : undefined;
        slots.draw(wanted, pinned);
        const { drawn } = slots;
        t.strictSame(
          drawn.map(({ key, index }) => ({ key, index })).sort((a, b) => a.index - b.index),
          wanted,
          `seed ${seed}`,
        );
        if (new Set(drawn.map(({ slot }) => slot)).size !== drawn.length)
          t.fail(`seed ${seed}: two rows in one element`);
        for (const { key, slot } of drawn) {
          if (before.has(key) && before.get(key) !== slot) t.fail(`seed ${seed}: ${key} moved to another element`);
          if (pinned !== undefined && key !== pinned && slot === before.get(pinned))
            t.fail(`seed ${seed}: the focus is on another row`);
        }
        const known = new Set(before.values());
        const fresh = drawn.filter(({ slot }) => !known.has(slot)).length;
        const free = before.size - (pinned !== undefined && !keys.has(pinned) ? 1 : 0);
        if (fresh !== Math.max(0, wanted.length - free))
          t.fail(`seed ${seed}: ${fresh} elements were made for ${wanted.length} rows where ${free} could be used`);
        made += fresh;
        if (!random.chance(0.3)) continue;
        slots.sort();
        t.strictSame(
          slots.drawn.map(({ index }) => index),
          wanted.map(({ index }) => index),
        );
        t.strictSame(
          new Map(slots.drawn.map(({ key, slot }) => [key, slot])),
          new Map(drawn.map(({ key, slot }) => [key, slot])),
          'sorting changes no element',
        );
      }
      t.ok(made > 0);
    }
  },
);

t.test('property: heights, as measured or guessed, add up; a part is found by halves', async (t) => {
  const random = randomFrom(7);
  const heights = new Heights();
  const keys = Array.from({ length: 500 }, (_, index) => `k${index}`);
  heights.set(
    keys,
    keys.map(() => 40),
  );
  t.equal(heights.total, 20_000);
  const real = keys.map(() => 40);
  for (let step = 0; step < 60; step += 1) {
    const index = random.below(500);
    real[index] = 10 + random.below(200);
    heights.measure(`k${index}`, real[index] ?? 0);
    const offset = real.slice(0, index).reduce((sum, one) => sum + one, 0);
    t.equal(heights.offsetOf(index), offset);
    const { first, end } = heights.between(offset, offset + (real[index] ?? 0) / 2);
    t.strictSame({ first, end }, { first: index, end: index + 1 });
  }
  heights.set(['new', ...keys], [100, ...keys.map(() => 40)]);
  t.equal(heights.offsetOf(1), 100, 'rows added in front move the rest');
  t.equal(heights.total, 100 + real.reduce((sum, one) => sum + one, 0), 'and measured heights are remembered');
  t.strictSame(new Heights().between(0, 100), { first: 0, end: 0 });
});

t.test('only web addresses become links, without the sentence around them', async (t) => {
  const links = (text: string) => piecesOf(text).flatMap((piece) => (piece.kind === 'link' ? [piece.href] : []));
  t.strictSame(links('See https://shop.example/a?b=1#c, or (http://shop.example/d).'), [
    'https://shop.example/a?b=1#c',
    'http://shop.example/d',
  ]);
  t.strictSame(links('https://en.example/wiki/Cup_(tea)'), ['https://en.example/wiki/Cup_(tea)']);
  for (const hostile of [
    'javascript:alert(1)',
    'data:text/html,x',
    '<script>alert(1)</script>',
    'https://',
    'ftp://a.example',
  ])
    t.strictSame(links(hostile), [], hostile);
  t.strictSame(links('https://a.example"onclick="x'), ['https://a.example/']);
  for (const text of ['', 'plain', 'a https://b.example/ c https://d.example.'])
    t.equal(
      piecesOf(text)
        .map((piece) => piece.text)
        .join(''),
      text,
      'nothing is lost',
    );
});

t.test('history at the end of a mail is folded, with the line that introduces it', async (t) => {
  t.strictSame(splitQuoted('Thanks!\n\nOn Friday the shop wrote:\n> It is on its way.\n>\n> Ann'), {
    text: 'Thanks!',
    quoted: 'On Friday the shop wrote:\n> It is on its way.\n>\n> Ann',
  });
  t.strictSame(splitQuoted('No history'), { text: 'No history', quoted: '' });
  t.strictSame(splitQuoted('> Is it?\nYes.'), { text: '> Is it?\nYes.', quoted: '' }, 'answered in between');
  t.strictSame(splitQuoted('> All of it'), { text: '> All of it', quoted: '' });
});

t.test('the mail editor reads and writes the same Markdown', async (t) => {
  const texts = [
    '',
    'One line',
    'Two\nlines',
    'Two\n\nparagraphs\nwith lines',
    '**bold** and *leaning*, ***both***, ~~gone~~ and `code`',
    '[a link](https://shop.example/a?b=1&c=2) and [**a bold one**](https://shop.example/)',
    '- one\n- two\n  lines\n- three\n  1. inner\n  2. more',
    '1. one\n2. two',
    '> quoted\n> lines\n>\n> - and a list',
    '```\ncode **as it is**\n  indented\n```',
    'before\n\n---\n\nafter',
    '![a cup](https://shop.example/storage/cup.png)',
  ];
  for (const text of texts) t.equal(markdownOf(documentOf(text)), text);
  const literal = [
    '1. not a list',
    '- not one either',
    '* nor this',
    '---',
    '> no quote',
    '2 * 3 * 4 = 24, snake_case_name and <b>tags</b> & [brackets] `ticks` ~~ \\',
    '#1042',
    '![no](picture)',
  ];
  for (const line of literal) {
    // As if it was typed into a line without the rules of typing.
    const written = documentOf('x').type.schema;
    const document = written.node('doc', null, [written.node('paragraph', null, [written.text(line)])]);
    t.equal(documentOf(markdownOf(document)).textContent, line, 'what is typed stays as it is typed');
    t.equal(documentOf(markdownOf(document)).childCount, 1);
  }
});
