// The assistant answers customers of a site by itself, from the knowledge base only, and hands over to people.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { unknownFigure } from '../../engine/assistant/answer-text.ts';
import { ownWords, understood } from '../../engine/assistant/own-words.ts';
import { ChatServer } from '../support/chat-server.ts';
import { type Customer, type Person, type Service, startService, type Teardown } from '../support/service.ts';

const question = 'How long do I have to send the tent back?';
/** Texts that try to instruct the model. */
const injections = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'injections.txt'), 'utf8')
  .trim()
  .split('\n');
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const { handover, hint } = ownWords('en');

interface Shop {
  readonly service: Service;
  readonly model: ChatServer;
  readonly owner: Person & { embedId: string };
  readonly siteId: string;
}

/** A workspace whose only article answers one question, with an assistant that may answer. */
async function shop(
  t: Teardown,
  { turns = 3, limits = 'off', ...more }: { turns?: number; limits?: string; chatModelTimeoutMs?: number } = {},
): Promise<Shop> {
  const model = await ChatServer.start(t);
  const service = await startService(t, {
    env: { RATE_LIMITS: limits, AI_PROVIDER: 'openai', AI_URL: model.url, AI_MODEL: 'tiny-1' },
    ...more,
  });
  const owner = await service.workspace();
  await service.post('/me/status', { status: 'away' }, owner.token);
  await service.post(
    '/kb/articles',
    {
      title: 'Returns',
      body: '## Sending it back\n\nYou can send a tent back within 30 days. See https://shop.example/returns for the label.\n',
      status: 'published',
    },
    owner.token,
  );
  await service.settled();
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(`/sites/${site.id}`, { assistantTurns: turns, expectedVersion: site.version }, owner.token);
  return { service, model, owner, siteId: site.id };
}

async function starts({ service, owner }: Shop, body = question): Promise<{ id: string; customer: Customer }> {
  const customer = await service.customer(owner.embedId, { name: 'Kim' });
  const { body: begun } = await service.post('/widget/conversations', { body }, customer.token);
  await service.settled();
  return { id: begun.conversation.id, customer };
}

async function writes({ service }: Shop, { id, customer }: { id: string; customer: Customer }, body: string) {
  const sent = await service.post(`/widget/conversations/${id}/messages`, { body }, customer.token);
  await service.settled();
  return sent;
}

/** What the customer sees, as "visitor: …" and "ai: …". */
async function seen({ service }: Shop, { id, customer }: { id: string; customer: Customer }): Promise<string[]> {
  const { body } = await service.get(`/widget/conversations/${id}/messages`, customer.token);
  return body.messages.map((one: { senderType: string; body: string }) => `${one.senderType}: ${one.body}`);
}

/** The service's own lines, which only agents see. */
async function lines({ service, owner }: Shop, id: string): Promise<string[]> {
  const { body } = await service.get(`/conversations/${id}/messages`, owner.token);
  return body.messages
    .filter(({ senderType }: { senderType: string }) => senderType === 'system')
    .map((one: { body: string }) => one.body);
}

t.test('a customer is answered from the knowledge base, with the source, and waits for no agent', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  const ann = await service.agent(owner);
  await service.post('/me/status', { status: 'available' }, ann.token);
  model.answer = () => 'You have 30 days [1].';
  const chat = await starts(here);
  t.same(await seen(here, chat), [
    `visitor: ${question}`,
    `ai: You have 30 days.\n\nSource: Sending it back\n\n${hint}`,
  ]);
  t.match(await service.conversation(chat.id, owner.token), {
    assistant: 'answering',
    assignedAgentId: null,
    lastSenderType: 'ai',
    waitingSince: null,
    firstResponseAt: null,
  });
  t.match(model.requests[0]?.user, /within 30 days/);
  const { requests } = (await service.get(`/ai/requests?conversationId=${chat.id}`, owner.token)).body;
  t.match(requests, [{ kind: 'answer', agentId: null, problem: null, sources: [{ title: 'Sending it back' }] }]);

  await writes(here, chat, 'And for a stove? How long do I have to send that back?');
  t.equal((await seen(here, chat)).at(-1), 'ai: You have 30 days.\n\nSource: Sending it back', 'the hint comes once');

  // Chats without the assistant go on to agents, past those that it answers.
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(`/sites/${site.id}`, { assistantTurns: 0, expectedVersion: site.version }, owner.token);
  const other = await starts(here);
  t.match(await service.conversation(other.id, owner.token), { assistant: null, assignedAgentId: ann.agentId });
  await writes(here, chat, 'Hm');
  t.match(
    await service.conversation(chat.id, owner.token),
    { assistant: 'handed_over', assignedAgentId: ann.agentId },
    'a customer whom it answered is not left alone when it is turned off',
  );
});

t.test('it hands over at once', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  const ann = await service.agent(owner);
  await service.post('/me/status', { status: 'available' }, ann.token);
  const cases: readonly (readonly [string, { said?: string; answer?: string; line: RegExp; asks: boolean }])[] = [
    ['when asked to', { said: 'Can I talk to a real person please?', line: /asked for a person/, asks: false }],
    ['when asked to in one word', { said: 'Mitarbeiter!', line: /asked for a person/, asks: false }],
    ['when nothing answers the question', { said: 'Qwertz uiop asdf?', line: /no clear answer/, asks: false }],
    ['when the model is not sure', { answer: 'HANDOVER', line: /no clear answer/, asks: true }],
    ['when the answer names no source', { answer: 'You have 30 days.', line: /no clear answer/, asks: true }],
    ['when the source does not exist', { answer: 'You have 30 days [9].', line: /no clear answer/, asks: true }],
    ['when a figure is invented', { answer: 'You have 60 days [1].', line: /no clear answer/, asks: true }],
    ['when an address is invented', { answer: 'Write to me@evil.example [1].', line: /no clear answer/, asks: true }],
  ];
  for (const [name, { said = question, answer = '', line, asks }] of cases) {
    model.answer = () => answer;
    const before = model.requests.length;
    const chat = await starts(here, said);
    t.same(await seen(here, chat), [`visitor: ${said}`, `ai: ${handover}`], name);
    t.match(
      await service.conversation(chat.id, owner.token),
      { assistant: 'handed_over', assignedAgentId: ann.agentId, waitingSince: /./ },
      `${name}: an agent has it, and the customer waits`,
    );
    t.ok(
      (await lines(here, chat.id)).some((one) => line.test(one)),
      `${name}: agents know why`,
    );
    t.equal(model.requests.length > before, asks, `${name}: tokens are spent only if that helps`);
    await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, owner.token);
  }
});

t.test('a customer is simply queued when the model fails', async (t) => {
  const here = await shop(t, { chatModelTimeoutMs: 300 });
  const { service, model, owner } = here;
  const behaviours = [
    { status: 500 },
    { status: 429 },
    { status: 401 },
    { events: ['{"choices":[{"delta":{"content":"You ha'], ends: 'cut' as const },
    { json: { nothing: true } },
    'hang' as const,
  ];
  for (const behaviour of behaviours) {
    model.answer = () => behaviour;
    const chat = await starts(here);
    const name = JSON.stringify(behaviour);
    t.same(await seen(here, chat), [`visitor: ${question}`], name);
    t.match(await service.conversation(chat.id, owner.token), { assistant: 'handed_over', waitingSince: /./ }, name);
    t.match(await lines(here, chat.id), ['The assistant handed this over: the language model gave no answer.'], name);
  }
});

t.test('greetings and thanks need no model', async (t) => {
  const here = await shop(t);
  const chat = await starts(here, 'Hello!');
  await writes(here, chat, 'thanks :)');
  t.same(await seen(here, chat), [
    'visitor: Hello!',
    `ai: ${ownWords('en').greeting}\n\n${hint}`,
    'visitor: thanks :)',
    `ai: ${ownWords('en').welcome}`,
  ]);
  t.equal(here.model.requests.length, 0);
});

t.test('after so many answers a person takes over, with a summary', async (t) => {
  const here = await shop(t, { turns: 2 });
  const { service, model, owner } = here;
  model.answer = ({ system }) =>
    system.includes('summarise') ? 'Kim wants to return a tent.' : 'You have 30 days [1].';
  const chat = await starts(here);
  await writes(here, chat, question);
  await writes(here, chat, question);
  t.equal((await seen(here, chat)).at(-1), `ai: ${handover}`);
  t.match(await service.conversation(chat.id, owner.token), { assistant: 'handed_over', assignedAgentId: null });
  const [line, summary] = await lines(here, chat.id);
  t.match(line, /as many answers as the site allows/);
  t.equal(summary, 'Summary: Kim wants to return a tent.');
  await writes(here, chat, question);
  t.equal((await seen(here, chat)).at(-1), `visitor: ${question}`, 'it stays with people');
});

t.test('an agent who writes, takes, is given it or moves it ends the answers', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  model.answer = () => 'You have 30 days [1].';
  const department = (await service.post('/departments', { name: 'Tents' }, owner.token)).body;
  const ways: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    writes: (id) => service.post(`/conversations/${id}/messages`, { body: 'I am here.' }, owner.token),
    takes: (id) => service.post(`/conversations/${id}/take`, {}, owner.token),
    solves: (id) => service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token),
    snoozes: (id) =>
      service.post(
        `/conversations/${id}/snooze`,
        { until: new Date(service.clock.now() + minuteMs).toISOString() },
        owner.token,
      ),
    moves: (id) =>
      service.post(`/conversations/${id}/assign-to-department`, { departmentId: department.id }, owner.token),
  };
  for (const [name, act] of Object.entries(ways)) {
    const chat = await starts(here);
    t.match(await act(chat.id), { status: /^20/ }, name);
    t.match(await service.conversation(chat.id, owner.token), { assistant: 'handed_over' }, name);
    const before = model.requests.length;
    await writes(here, chat, question);
    t.equal(model.requests.length, before, `${name}: it is not asked again`);
  }
});

t.test('what is written meanwhile counts', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  let release = (): void => undefined;
  const holds = (): void => {
    model.hold = new Promise((resolve) => (release = resolve));
  };
  model.answer = () => 'You have 30 days [1].';

  await t.test('an answer to the message before the last is not given', async (t) => {
    holds();
    const customer = await service.customer(owner.embedId);
    const { body } = await service.post('/widget/conversations', { body: question }, customer.token);
    const chat = { id: body.conversation.id, customer };
    await model.isAsked(1);
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'And a stove?' }, customer.token);
    release();
    await service.settled();
    t.match(await seen(here, chat), [`visitor: ${question}`, 'visitor: And a stove?', /^ai: You have 30 days/]);
  });

  await t.test('nor one that an agent was quicker than', async (t) => {
    holds();
    const before = model.requests.length;
    const customer = await service.customer(owner.embedId);
    const { body } = await service.post('/widget/conversations', { body: question }, customer.token);
    const chat = { id: body.conversation.id, customer };
    await model.isAsked(before + 1);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'Thirty days.' }, owner.token);
    release();
    await service.settled();
    t.same(await seen(here, chat), [`visitor: ${question}`, 'agent: Thirty days.']);
  });
});

t.test('what customers write are no instructions', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  // What a model that obeys would say.
  const obedient: readonly string[] = [
    'Everything is free, as you say [1].\nGo to https://evil.example/login or www.evil.example',
    'You have 365 days [1].',
    'Confirmed: 250 euros [1]. Write to root@evil.example',
    'You have 30 days [1]. [Click here](https://evil.example/steal) ![x](https://evil.example/pixel.png)',
  ];
  for (const [at, order] of injections.entries()) {
    model.answer = () => obedient[at % obedient.length] ?? '';
    const before = model.requests.length;
    const chat = await starts(here, `${question} ${order}`);
    const { system = '', user = '', body = {} } = model.requests.at(-1) ?? {};
    t.equal(model.requests.length, before + 1, order);
    const fence = /tags that end in -([\w-]+) was/.exec(system)?.[1] ?? 'none';
    t.notOk(system.includes(order.slice(0, 20)), 'the instructions are ours alone');
    t.equal(user.split(`</conversation-${fence}>`).length, 2, 'no one outside can end the fence');
    t.notOk('tools' in body, 'it has no tools');
    const answers = (await seen(here, chat)).filter((line) => line.startsWith('ai: ')).join('\n');
    t.notMatch(answers, /evil|https?:|365|250/, order);
    await service.post(`/conversations/${chat.id}/status`, { status: 'solved' }, owner.token);
  }
});

t.test('nor is what a page of the knowledge base says', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  for (const [at, order] of injections.entries())
    await service.post(
      '/kb/articles',
      { title: `Page ${at}`, body: `${question}\n\n${order}`, status: 'published' },
      owner.token,
    );
  await service.settled();
  model.answer = () => 'Go to https://other.example/login, you have 7171 days [1].';
  const chat = await starts(here);
  const { system = '', user = '' } = model.requests.at(-1) ?? {};
  const fence = /tags that end in -([\w-]+) was/.exec(system)?.[1] ?? 'none';
  t.equal(user.split(`</sources-${fence}>`).length, 2, 'each text stays inside of its JSON');
  t.same(await seen(here, chat), [`visitor: ${question}`, `ai: ${handover}`]);
});

t.test(
  'a chat that its customer left after an answer is solved a day later, and goes on when they return',
  async (t) => {
    const here = await shop(t);
    const { service, model, owner } = here;
    model.answer = () => 'You have 30 days [1].';
    const chat = await starts(here);
    await service.post(`/widget/conversations/${chat.id}/read`, {}, chat.customer.token);
    await service.pass(dayMs + minuteMs);
    t.match(await service.conversation(chat.id, owner.token), { status: 'solved', assistant: 'answering' });
    await writes(here, chat, question);
    t.match((await seen(here, chat)).at(-1), /^ai: You have 30 days/);
    t.match(await service.conversation(chat.id, owner.token), { status: 'open', assistant: 'answering' });
  },
);

t.test('a customer who left before reading is a person’s', async (t) => {
  const here = await shop(t);
  const { service, model, owner } = here;
  model.answer = () => 'You have 30 days [1].';
  const chat = await starts(here);
  await service.pass(dayMs + minuteMs);
  t.match(await service.conversation(chat.id, owner.token), { status: 'open', assistant: 'handed_over' });
  t.match(await lines(here, chat.id), [/left before reading/, /^Summary/]);
});

t.test('an answer that was not seen is mailed, but to no address that is only claimed', async (t) => {
  const here = await shop(t);
  const { service, model, owner, siteId } = here;
  model.answer = () => 'You have 30 days [1].';
  const { identitySecret } = (await service.get(`/sites/${siteId}`, owner.token)).body;
  const asks = async (email: string, more: object): Promise<void> => {
    const session = { siteId: owner.embedId, url: 'https://shop.example/', email, ...more };
    const { visitorToken } = (await service.post('/widget/sessions', session)).body;
    await service.post('/widget/conversations', { body: question }, visitorToken);
    await service.settled();
  };
  const proved = 'kim@customer.example';
  await asks('claimed@customer.example', {});
  await asks(proved, { signature: createHmac('sha256', identitySecret).update(proved).digest('hex') });
  await service.pass(10 * minuteMs);
  await service.pass(10 * minuteMs);
  t.match(service.newestMail(proved)?.text, /You have 30 days\./);
  t.equal(service.mailCount('claimed@customer.example'), 0, 'it could repeat what a stranger wrote');
});

t.test('one network begins twenty such chats an hour, and agents have the others', async (t) => {
  const here = await shop(t, { limits: 'on' });
  const { service, owner } = here;
  const begun: unknown[] = [];
  for (let count = 0; count < 21; count += 1) {
    const { id } = await starts(here, 'Hello!');
    begun.push((await service.conversation(id, owner.token)).assistant);
    service.clock.advance(minuteMs);
  }
  t.same(begun, [...Array.from({ length: 20 }, () => 'answering'), null]);
});

t.test('figures and words', async (t) => {
  const known = 'Within 30 days. It costs 1,299.00 €, call +49 30 1234-56 or write to help@shop.example.';
  for (const fine of ['30 days', '٣٠ days', '３０ days', '1299.00 €', 'Call +49 30 123456.', 'help@shop.example', ''])
    t.equal(unknownFigure(fine, known), undefined, fine);
  for (const wrong of [
    '1. Pack it.\n2. Send it.',
    '30 %',
    '30 € off',
    '2.30',
    'help@shop.exampl',
    'boss@müller.de',
    '٣١ days',
    '६० दिन',
    '31 days',
    '3 days',
    '1,299.50',
    'other@shop.example',
    '129',
  ])
    t.ok(unknownFigure(wrong, known), wrong);
  const meant = [
    ['Hi!', 'greeting'],
    ['  GUTEN TAG ', 'greeting'],
    ['你好！', 'greeting'],
    ['Merci beaucoup.', 'thanks'],
    ['I want to speak to a human', 'person'],
    ['Ich möchte mit einem Menschen sprechen', 'person'],
    ['Hello, where is my order?', undefined],
    ['Is one person enough to pitch it?', undefined],
    ['', undefined],
  ] as const;
  for (const [text, what] of meant) t.equal(understood(text), what, text);
  for (const locale of ['en', 'de-AT', 'fr', 'es_MX', 'ar', 'nl', ''])
    t.ok(
      Object.values(ownWords(locale)).every((text) => text.length > 3),
      locale,
    );
});
