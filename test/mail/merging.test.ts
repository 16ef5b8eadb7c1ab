// Two tickets become one, and one message becomes a ticket.

import t, { type Test } from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { contactsNamed, eraseContact } from '../../store/operations/erasure.ts';
import { workspaceFaults } from '../../store/operations/integrity.ts';
import { makeKey } from '../support/keys.ts';
import { randomFrom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;

t.test('merging and splitting', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', MAIL_HOST: 'mail.switchboard.test', TOKEN_TTL_DAYS: '30' },
  });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  await service.patch(`/agents/${ann.agentId}`, { canTransfer: true }, owner.token);
  const chatter = await service.agent(owner, { channels: ['chats'] });
  const stranger = await service.workspace();
  const mailbox = await service.mailbox(owner);

  let people = 0;
  const mailed = async (mail: object = {}) => {
    people += 1;
    const customer = `customer${people}@customer.example`;
    const mailId = `<merge${people}@customer.example>`;
    const text = `Question ${people}`;
    await service.deliver(mailbox, {
      from: `Cleo <${customer}>`,
      messageId: mailId,
      subject: `Order ${people}`,
      text,
      ...mail,
    });
    service.clock.advance(1000);
    const ticket = (await service.tickets(owner.token)).at(-1);
    return { id: ticket.id as string, number: ticket.ticketNumber as number, customer, mailId, text };
  };
  const record = async (id: string, token = owner.token) =>
    (await service.get(`/conversations/${id}`, token)).body.conversation;
  const bodies = async (id: string): Promise<string[]> =>
    (await service.messages(id, owner.token)).map(({ body }) => body);
  const lines = async (id: string): Promise<string[]> =>
    (await service.get(`/conversations/${id}/messages?limit=200`, owner.token)).body.messages
      .filter(({ senderType }: any) => senderType === 'system')
      .map(({ body }: any) => body);
  const merge = (id: string, into: string, fields: object = {}, token = ann.token) =>
    service.post(`/conversations/${id}/merge`, { into, ...fields }, token);
  const unmerge = (id: string, token = ann.token, fields: object = {}) =>
    service.post(`/conversations/${id}/unmerge`, fields, token);
  const split = (id: string, messageId: string, fields: object = {}, token = ann.token) =>
    service.post(`/conversations/${id}/messages/${messageId}/split`, fields, token);
  const send = (id: string, body: string, token = ann.token) =>
    service.post(`/conversations/${id}/messages`, { body }, token);
  const search = async (q: string): Promise<string[]> =>
    (await service.get(`/conversations/search?q=${encodeURIComponent(q)}`, owner.token)).body.rows.map(
      ({ conversationId }: any) => conversationId,
    );
  const counted = async (): Promise<number> => {
    const [from, to] = [-dayMs, dayMs].map((ms) => new Date(service.clock.now() + ms).toISOString());
    return (await service.get(`/reports/tickets/total?from=${from}&to=${to}`, owner.token)).body.total;
  };
  const sound = (t: Test) => {
    for (const { db } of service.running.services.engine.openWorkspaces()) t.same(workspaceFaults(db), []);
    service.requireSoundReports();
  };

  t.test('the messages, notes and files of both are in the target, in the order of time', async (t) => {
    const first = await mailed();
    const second = await mailed({ from: `Cleo <${first.customer}>`, text: 'Did you get my question?' });
    const upload = { filename: 'cup.txt', contentType: 'text/plain', size: 3 };
    const { publicUrl: url } = (await service.post('/uploads/presigned', upload, ann.token)).body;
    const sent = { body: 'We did.', attachments: [{ url }] };
    await service.post(`/conversations/${first.id}/messages`, sent, ann.token);
    await service.settled();
    await service.post(`/conversations/${first.id}/notes`, { body: 'Asked twice' }, ann.token);
    const before = await service.messages(first.id, owner.token);
    const socket = await service.agentSocket(owner.token);
    const { status, body } = await merge(first.id, second.id, {
      expectedVersion: (await record(first.id)).version,
      intoExpectedVersion: (await record(second.id)).version,
    });
    t.equal(status, 200);
    t.match(body.conversation, { id: second.id, mergedInto: null, preview: 'We did.', lastSenderType: 'agent' });
    t.match((await socket.next('message.moved')).data, {
      move: { fromConversationId: first.id, toConversationId: second.id, count: 2 },
    });
    const after = await service.messages(second.id, owner.token);
    t.same(
      after.map(({ body: said }) => said),
      [first.text, 'Did you get my question?', 'We did.'],
    );
    t.same(
      after.filter(({ id }) => before.some((one) => one.id === id)),
      before.map((one) => ({ ...one, conversationId: second.id })),
      'with the same ids, times and files',
    );
    t.match((await service.get(`/conversations/${second.id}/notes`, owner.token)).body.notes, [
      { body: 'Asked twice' },
    ]);
    t.match(await record(first.id), { status: 'closed', mergedInto: second.id, preview: null, waitingSince: null });
    t.same(await bodies(first.id), []);
    t.match((await lines(first.id)).at(-1), `Ann merged this into ticket #${second.number}.`);
    t.match((await lines(second.id)).at(-1), `Ann merged ticket #${first.number} into this.`);
    t.match((await service.audited('conversation.merged', owner.token))[0], {
      actorAgentId: ann.agentId,
      targetId: first.id,
      context: { into: second.id, messages: 2 },
    });
    t.match((await service.tickets(owner.token)).map(({ id }) => id).includes(first.id), false, 'out of the queue');
    t.match(await merge(first.id, second.id), { status: 200, body: { conversation: { id: second.id } } }, 'once');
    t.equal((await service.audited('conversation.merged', owner.token)).length, 1);
    sound(t);
  });

  t.test('a merged ticket takes nothing and cannot be changed', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    await merge(first.id, second.id);
    const refusal = { status: 409, body: { error: 'conflict', detail: { mergedInto: second.id } } };
    t.match(await send(first.id, 'Hello?'), { status: 409, body: { error: 'conversation_archived' } });
    const path = `/conversations/${first.id}`;
    t.match(await service.post(`${path}/status`, { status: 'open' }, ann.token), refusal);
    t.match(await service.post(`${path}/spam`, {}, ann.token), refusal);
    t.match(await service.post(`${path}/notes`, { body: 'x' }, ann.token), refusal);
    t.match(await service.patch(`${path}/notes/working`, { body: 'x' }, ann.token), refusal);
    t.match(await service.post(`${path}/followers`, {}, ann.token), refusal);
    t.match(await service.put(`${path}/copied-to`, { copiedTo: [] }, ann.token), refusal);
    const { version } = await record(first.id);
    const offer = { agentId: ann.agentId, expectedVersion: version };
    t.match(await service.post(`${path}/assign-to-agent`, offer, owner.token), refusal);
    t.match(await service.post(`${path}/assign-to-department`, { departmentId: null }, ann.token), refusal);
    t.match(await service.post(`${path}/take`, {}, ann.token), { status: 409 });
    t.match(
      await service.post(`${path}/snooze`, { until: new Date(service.clock.now() + dayMs).toISOString() }, ann.token),
      { status: 409 },
    );
  });

  t.test('answers to its mails arrive in the target: by reference, by subject, of either customer', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    await send(first.id, 'An answer');
    await service.settled();
    const sent = service.newestMail(first.customer);
    await merge(first.id, second.id);
    t.match(await record(second.id), { copiedTo: [first.customer] }, 'the other customer receives copies');
    const answer = (mail: object) => service.deliver(mailbox, { from: `Cleo <${first.customer}>`, ...mail });
    await answer({ messageId: '<a1@customer.example>', headers: { 'In-Reply-To': first.mailId }, text: 'By its own' });
    await answer({
      messageId: '<a2@customer.example>',
      headers: { References: `<${sent?.id}@mail.switchboard.test>` },
      text: 'By our answer',
    });
    await answer({ messageId: '<a3@customer.example>', subject: `Re: Order ${first.number}`, text: 'By its subject' });
    const said = await bodies(second.id);
    t.ok(said.includes('By its own') && said.includes('By our answer'));
    t.same(await bodies(first.id), []);
    await service.settled();
    await send(second.id, 'To both');
    await service.settled();
    for (const to of [first.customer, second.customer])
      t.match(service.newestMail(to), { text: /To both/, cc: [first.customer] }, to);
    await service.deliver(mailbox, {
      from: 'mallory@elsewhere.example',
      messageId: '<a4@elsewhere.example>',
      headers: { 'In-Reply-To': first.mailId },
      text: 'Let me in',
    });
    t.notOk((await bodies(second.id)).includes('Let me in'), 'no one else comes in');
    sound(t);
  });

  t.test('[copies] a mail of either customer drops no one; an agent does', async (t) => {
    const dora = 'dora@customer.example';
    const [first, second] = [await mailed(), await mailed({ to: [mailbox.address, dora] })];
    t.match(await record(second.id), { copiedTo: [dora] });
    const { version } = await record(second.id);
    await merge(first.id, second.id);
    t.ok((await record(second.id)).version > version, 'an answer written before is stale');
    const both = [dora, first.customer];
    t.same((await record(second.id)).copiedTo, both);
    for (const { customer, mailId } of [second, first]) {
      const headers = { 'In-Reply-To': mailId };
      await service.deliver(mailbox, {
        from: customer,
        messageId: `<alone-${customer}>`,
        headers,
        text: 'To you alone',
      });
      t.same((await record(second.id)).copiedTo, both, customer);
    }
    await service.put(`/conversations/${second.id}/copied-to`, { copiedTo: [dora] }, ann.token);
    const headers = { 'In-Reply-To': second.mailId };
    await service.deliver(mailbox, {
      from: second.customer,
      messageId: '<alone@customer.example>',
      headers,
      text: 'Me',
    });
    t.same((await record(second.id)).copiedTo, [], 'as in any ticket, since no one is there by the merge');
  });

  t.test('[copies] undoing takes back what the merged customer wrote, and whom it named', async (t) => {
    const [first, second] = [await mailed({ to: [mailbox.address, 'quinn@customer.example'] }), await mailed()];
    await merge(first.id, second.id);
    await service.deliver(mailbox, {
      from: first.customer,
      to: [mailbox.address, 'rob@customer.example', second.customer],
      messageId: '<undone1@customer.example>',
      headers: { 'In-Reply-To': first.mailId },
      text: 'For us only',
    });
    await service.deliver(mailbox, {
      from: second.customer,
      to: [mailbox.address, 'tess@customer.example', first.customer],
      messageId: '<undone2@customer.example>',
      headers: { 'In-Reply-To': second.mailId },
      text: 'Of the other',
    });
    t.same((await record(second.id)).copiedTo.sort(), [
      first.customer,
      'quinn@customer.example',
      'rob@customer.example',
      'tess@customer.example',
    ]);
    t.equal((await unmerge(first.id)).status, 200);
    t.same(await bodies(first.id), [first.text, 'For us only']);
    t.same(await bodies(second.id), [second.text, 'Of the other']);
    t.match(await record(first.id), { status: 'open', waitingSince: String, preview: 'For us only' });
    t.same((await record(second.id)).copiedTo, ['tess@customer.example']);
    await service.deliver(mailbox, {
      from: 'rob@customer.example',
      messageId: '<undone3@customer.example>',
      headers: { 'In-Reply-To': second.mailId },
      text: 'Let me in',
    });
    t.notOk((await bodies(second.id)).includes('Let me in'), 'nor may they write into it');
    sound(t);
  });

  t.test('a mail on its way in the target is held back if it would go to another customer, too', async (t) => {
    const [first, second, third] = [await mailed(), await mailed(), await mailed()];
    const sendAt = new Date(service.clock.now() + 3600_000).toISOString();
    const plan = async (conversationId: string, mail: object) => {
      const { body } = await service.post('/drafts', { conversationId, mail }, ann.token);
      await service.post(`/drafts/${body.id}/send`, { expectedVersion: 1, sendAt, unlessAnswered: false }, ann.token);
      return body.id as string;
    };
    const drafts = [
      await plan(second.id, { body: 'For you alone' }),
      await plan(second.id, { body: 'For these', cc: ['dora@customer.example'] }),
    ];
    await merge(first.id, second.id);
    t.match((await service.get(`/drafts/${drafts[0]}`, ann.token)).body, {
      state: 'draft',
      failure: /merged into this/,
    });
    t.match((await service.get(`/drafts/${drafts[1]}`, ann.token)).body, { state: 'scheduled' });
    t.ok((await lines(second.id)).some((line) => /^A mail of Ann was not sent/.test(line)));
    const same = await mailed({ from: `Cleo <${third.customer}>` });
    const kept = await plan(third.id, { body: 'For the same' });
    await merge(same.id, third.id);
    t.match((await service.get(`/drafts/${kept}`, ann.token)).body, { state: 'scheduled' }, 'the same customer');
    await service.pass(2 * 3600_000);
    t.notOk((await bodies(second.id)).includes('For you alone'));
    t.ok((await bodies(second.id)).includes('For these'));
    sound(t);
  });

  t.test('[reports] what was solved waits no more; an answer in either is an answer', async (t) => {
    const [old, answered, target] = [await mailed(), await mailed(), await mailed()];
    await service.post(`/conversations/${old.id}/status`, { status: 'solved' }, ann.token);
    const { waitingSince } = await record(target.id);
    await merge(old.id, target.id);
    t.equal((await record(target.id)).waitingSince, waitingSince);
    await send(answered.id, 'An answer');
    await service.settled();
    const { firstResponseAt } = await record(answered.id);
    await merge(answered.id, target.id);
    t.match(await record(target.id), { firstResponseAt });
    sound(t);
    service.clock.advance(1000);
    await send(target.id, 'Later');
    await service.settled();
    await unmerge(answered.id);
    const later = (await service.messages(target.id, owner.token)).at(-1);
    t.match(await record(target.id), { firstResponseAt: later.createdAt });
    t.match(await record(answered.id), { firstResponseAt });
    sound(t);
  });

  t.test('undoing restores followers and the times of what was solved, and closes what the merge opened', async (t) => {
    const [first, solved, target] = [await mailed(), await mailed(), await mailed()];
    for (const { id } of [solved, target])
      await service.post(`/conversations/${id}/status`, { status: 'solved' }, ann.token);
    const before = { solved: await record(solved.id), target: await record(target.id) };
    await service.post(`/conversations/${first.id}/followers`, {}, ann.token);
    service.clock.advance(60_000);
    await merge(solved.id, target.id);
    await merge(first.id, target.id);
    t.match(await record(target.id), { status: 'open', followerIds: [ann.agentId] });
    await unmerge(first.id);
    const { status, solvedAt } = before.target;
    t.match(await record(target.id), { status, solvedAt, followerIds: [] });
    await unmerge(solved.id);
    t.match(await record(solved.id), { status: 'solved', solvedAt: before.solved.solvedAt });
    t.match(await record(target.id), { status, solvedAt });
    const waiting = await mailed();
    const until = new Date(service.clock.now() + 3600_000).toISOString();
    await service.post(`/conversations/${waiting.id}/snooze`, { until }, ann.token);
    await merge(waiting.id, target.id);
    t.match(await record(target.id), { status: 'open' }, 'a reminder is not lost');
    await send(target.id, 'Written since');
    await unmerge(waiting.id);
    t.match(await record(target.id), { status: 'open' }, 'what was worked on stays');
    const many = await mailed();
    for (let index = 0; index < 20; index += 1)
      await service.post(
        `/conversations/${many.id}/followers`,
        { agentId: (await service.agent(owner)).agentId },
        ann.token,
      );
    await service.post(`/conversations/${target.id}/followers`, {}, ann.token);
    t.match(await merge(many.id, target.id), { status: 422, body: { detail: { maxFollowers: 20 } } });
    sound(t);
  });

  t.test('undoing one of two merges closes nothing that the other opens, too', async (t) => {
    const solved = async () => {
      const ticket = await mailed();
      await service.post(`/conversations/${ticket.id}/status`, { status: 'solved' }, ann.token);
      return ticket;
    };
    const into = async (...sources: { readonly id: string }[]) => {
      const target = await solved();
      for (const { id } of sources) {
        t.equal((await merge(id, target.id)).status, 200);
        service.clock.advance(1000);
      }
      t.match(await record(target.id), { status: 'open' });
      return target;
    };
    const [first, second] = [await mailed(), await mailed()];
    const waiting = await record(second.id);
    const target = await into(first, second);
    await unmerge(first.id);
    const { waitingSince } = waiting;
    t.match(await record(target.id), { status: 'open', solvedAt: null, waitingSince }, "the other's customer waits");
    const [other, done] = [await mailed(), await solved()];
    const another = await into(other, done);
    await unmerge(other.id);
    t.match(await record(another.id), { status: 'solved' }, 'the other one was solved itself');
    const [last, before] = [await mailed(), await mailed()];
    const third = await into(before, last);
    await unmerge(last.id);
    t.match(await record(third.id), { status: 'open' });
    await unmerge(before.id);
    t.match(await record(third.id), { status: 'solved' }, 'from the last one back it is as it was');
    sound(t);
  });

  t.test('a draft and a repeated note on a merged ticket go to the target', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    const note = { body: 'Once', noteId: '01a1faa5-20b4-76c0-bd16-f71190000001' };
    t.equal((await service.post(`/conversations/${first.id}/notes`, note, ann.token)).status, 201);
    await merge(first.id, second.id);
    t.match(await service.post(`/conversations/${first.id}/notes`, note, ann.token), {
      body: { note: { conversationId: second.id } },
    });
    const draft = { conversationId: first.id, mail: { body: 'Begun before' } };
    t.match((await service.post('/drafts', draft, ann.token)).body, { conversationId: second.id });
  });

  t.test('a subject alone leads to the target, too', async (t) => {
    const [first, second] = [await mailed({ subject: 'Blue plates' }), await mailed()];
    await merge(first.id, second.id);
    await service.deliver(mailbox, {
      from: `Cleo <${first.customer}>`,
      messageId: '<s1@customer.example>',
      subject: 'blue plates',
      text: 'And green ones',
    });
    t.same(await bodies(second.id), [first.text, second.text, 'And green ones']);
  });

  t.test('it is found at the target and counted once', async (t) => {
    const [first, second] = [await mailed({ text: 'The zanzibar lamp' }), await mailed()];
    const before = await counted();
    t.type(before, 'number');
    t.same(await search('zanzibar'), [first.id]);
    await merge(first.id, second.id);
    t.same(await search('zanzibar'), [second.id]);
    t.equal(await counted(), before - 1);
    await unmerge(first.id);
    t.same(await search('zanzibar'), [first.id]);
    t.equal(await counted(), before);
    sound(t);
  });

  t.test('an offer, a snooze, a closing and a mail on its way are settled', async (t) => {
    const bob = await service.agent(owner, { name: 'Bob' });
    const [offered, snoozed, solved, into] = [await mailed(), await mailed(), await mailed(), await mailed()];
    const { version } = await record(offered.id);
    const offer = { agentId: bob.agentId, expectedVersion: version };
    await service.post(`/conversations/${offered.id}/assign-to-agent`, offer, ann.token);
    const until = new Date(service.clock.now() + 3600_000).toISOString();
    await service.post(`/conversations/${snoozed.id}/snooze`, { until }, ann.token);
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, ann.token);
    const draft = await service.post(
      '/drafts',
      { conversationId: offered.id, mail: { body: 'On its way' } },
      ann.token,
    );
    await service.post(`/drafts/${draft.body.id}/send`, { expectedVersion: 1, sendAt: until }, ann.token);
    for (const { id } of [offered, snoozed, solved]) t.equal((await merge(id, into.id)).status, 200);
    t.match(await record(offered.id), { status: 'closed', handshake: null, assignedAgentId: null });
    t.match(await record(snoozed.id), { status: 'closed', snoozedUntil: null });
    t.match(await service.post(`/conversations/${offered.id}/assignment/accept`, {}, bob.token), { status: 409 });
    await service.pass(2 * 3600_000);
    t.match(await record(snoozed.id), { status: 'closed' }, 'no one wakes it');
    t.match((await service.get(`/drafts/${draft.body.id}`, ann.token)).body, {
      conversationId: into.id,
      state: 'draft',
      failure: /was merged/,
    });
    t.match(await lines(into.id), [/./, /A mail of Ann was not sent: Ticket #\d+ was merged/, /./, /./]);
    t.notOk((await bodies(into.id)).includes('On its way'));
    await unmerge(offered.id);
    t.match((await service.get(`/drafts/${draft.body.id}`, ann.token)).body, { conversationId: offered.id });
    await unmerge(solved.id);
    t.match(await record(solved.id), { status: 'solved' });
    sound(t);
  });

  t.test('undoing puts back what moved; what came since stays', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    await service.post(`/conversations/${first.id}/notes`, { body: 'A note' }, ann.token);
    const before = await record(first.id);
    const target = await record(second.id);
    const messages = await service.messages(first.id, owner.token);
    await merge(first.id, second.id);
    await send(second.id, 'To both of you');
    const { status, body } = await unmerge(first.id);
    t.equal(status, 200);
    t.match(body.conversation, { id: first.id, status: 'open', mergedInto: null });
    t.same(await service.messages(first.id, owner.token), messages);
    for (const member of ['preview', 'lastMessageAt', 'waitingSince', 'lastSenderId', 'agentsReadUpTo'])
      t.equal((await record(first.id))[member], before[member], member);
    t.match((await service.get(`/conversations/${first.id}/notes`, owner.token)).body.notes, [{ body: 'A note' }]);
    t.same((await service.get(`/conversations/${second.id}/notes`, owner.token)).body.notes, []);
    t.same(await bodies(second.id), [second.text, 'To both of you']);
    t.match(await record(second.id), { copiedTo: target.copiedTo });
    await service.deliver(mailbox, {
      from: `Cleo <${first.customer}>`,
      messageId: '<u1@customer.example>',
      headers: { 'In-Reply-To': first.mailId },
      text: 'Alone again',
    });
    t.same(await bodies(first.id), [first.text, 'Alone again']);
    t.match((await service.audited('conversation.unmerged', owner.token))[0], {
      targetId: first.id,
      context: { from: second.id, messages: 1 },
    });
    t.match(await unmerge(first.id), { status: 409, body: { error: 'conflict' } }, 'once');
    sound(t);
  });

  t.test('messages of the same moment keep an order, and their times come back', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    service.clock.advance(1000);
    await send(first.id, 'One');
    await send(first.id, 'Two');
    await send(second.id, 'Three');
    await service.settled();
    const before = await service.messages(first.id, owner.token);
    await merge(first.id, second.id);
    const said = await bodies(second.id);
    t.ok(said.indexOf('One') < said.indexOf('Two'));
    await unmerge(first.id);
    t.same(await service.messages(first.id, owner.token), before);
    sound(t);
  });

  t.test('a day later it cannot be undone', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    await merge(first.id, second.id);
    await service.pass(dayMs + 1);
    t.match(await unmerge(first.id), { status: 409, body: { error: 'conflict', message: /more than a day ago/ } });
  });

  t.test('a chain is undone from its end, and answers go to its end', async (t) => {
    const [a, b, c] = [await mailed(), await mailed(), await mailed()];
    await merge(a.id, b.id);
    t.match(await merge(c.id, a.id), { status: 409, body: { detail: { mergedInto: b.id } } }, 'not into a merged one');
    t.match(await merge(b.id, a.id), { status: 409 }, 'nor back');
    t.match(await merge(a.id, c.id), { status: 409, body: { detail: { mergedInto: b.id } } }, 'nor twice');
    t.equal((await merge(b.id, c.id)).status, 200);
    await service.deliver(mailbox, {
      from: `Cleo <${a.customer}>`,
      messageId: '<c1@customer.example>',
      headers: { 'In-Reply-To': a.mailId },
      text: 'At the end',
    });
    t.same(await bodies(c.id), [a.text, b.text, c.text, 'At the end']);
    t.match(await unmerge(a.id), { status: 409, body: { detail: { mergedInto: c.id } } });
    t.equal((await unmerge(b.id)).status, 200);
    t.same(await bodies(b.id), [a.text, b.text, 'At the end']);
    t.equal((await unmerge(a.id)).status, 200);
    t.same(await bodies(a.id), [a.text, 'At the end'], 'what its customer wrote since comes back to it');
    t.same(await bodies(b.id), [b.text]);
    t.same(await bodies(c.id), [c.text]);
    sound(t);
  });

  t.test('status: an open ticket opens the target; a target that a solved one joins stays', async (t) => {
    const [a, b, c] = [await mailed(), await mailed(), await mailed()];
    for (const { id } of [b, c]) await service.post(`/conversations/${id}/status`, { status: 'solved' }, ann.token);
    await merge(b.id, c.id);
    t.match(await record(c.id), { status: 'solved' });
    await merge(a.id, c.id);
    t.match(await record(c.id), { status: 'open', waitingSince: String });
    sound(t);
  });

  t.test('refused: other channels, itself, spam, stale versions, out of reach, another workspace', async (t) => {
    const [first, second] = [await mailed(), await mailed()];
    const chat = await service.chat(owner);
    t.match(await merge(first.id, chat.id, {}, owner.token), { status: 422, body: { error: 'semantic_error' } });
    t.match(await merge(chat.id, first.id, {}, owner.token), { status: 422, body: { error: 'semantic_error' } });
    const field = { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { into: [String] } } } };
    t.match(await merge(first.id, first.id), field);
    t.match(await merge(first.id, stranger.siteId), field);
    t.match(await merge(first.id, second.id, { expectedVersion: 99 }), {
      status: 409,
      body: { error: 'stale_version' },
    });
    t.match(await merge(first.id, second.id, { intoExpectedVersion: 99 }), { body: { error: 'stale_version' } });
    t.match(await merge(first.id, second.id, {}, chatter.token), { status: 403 });
    t.match(await merge(first.id, second.id, {}, stranger.token), { status: 404 });
    const { body: department } = await service.post('/departments', { name: 'Legal' }, owner.token);
    const path = `/conversations/${second.id}/assign-to-department`;
    await service.post(path, { departmentId: department.id }, owner.token);
    t.match(
      await merge(first.id, second.id),
      { status: 403, body: { error: 'forbidden' } },
      'a department beyond reach',
    );
    t.equal((await merge(first.id, second.id, {}, owner.token)).status, 200);
    t.match(await unmerge(first.id), { status: 403 });
    t.match(await unmerge(first.id, owner.token, { expectedVersion: 1 }), { body: { error: 'stale_version' } });
    t.match(await unmerge(first.id, stranger.token), { status: 404 });
    t.match(await unmerge(second.id, owner.token), { status: 409, body: { error: 'conflict' } });
    const third = await mailed();
    await service.post(`/conversations/${third.id}/spam`, {}, ann.token);
    t.match(await merge(third.id, second.id, {}, owner.token), { body: { error: 'illegal_status_transition' } });
    const key = await service.post('/api-keys', { name: 'k', scopes: ['conversations:read'] }, owner.token);
    t.match(await merge(third.id, second.id, {}, key.body.key), { status: 403, body: { error: 'insufficient_scope' } });
  });

  t.test(
    "[erasure] a merged ticket's messages are erased with its customer, in another customer's ticket",
    async (t) => {
      const [first, second] = [await mailed({ text: 'Heliotrope' }), await mailed()];
      await service.post(`/conversations/${first.id}/notes`, { body: 'Likes heliotrope' }, ann.token);
      await merge(first.id, second.id);
      await send(second.id, 'To both');
      await service.settled();
      const { contactId } = await record(first.id);
      const erase = command(
        'test.erase',
        (ctx, _: object): void => void eraseContact(ctx.db, { contactId, at: ctx.at }),
      );
      const of = { workspaceId: owner.workspaceId, caller: systemCaller, params: {} };
      await service.running.services.engine.execute(erase, of);
      t.same(await bodies(second.id), ['[erased]', second.text, 'To both']);
      t.match((await service.get(`/conversations/${second.id}/notes`, owner.token)).body.notes, [{ body: '[erased]' }]);
      const [{ db } = {}] = [...service.running.services.engine.openWorkspaces()].filter(
        ({ workspaceId }) => workspaceId === owner.workspaceId,
      );
      const tables =
        db?.all<{ name: string }>(
          `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`,
        ) ?? [];
      for (const { name } of tables)
        for (const row of db?.all(`SELECT * FROM "${name}"`) ?? [])
          t.notMatch(JSON.stringify(row).toLowerCase(), new RegExp(`heliotrope|${first.customer}`), name);
    },
  );

  t.test("[erasure] another customer's ticket that was merged into the erased one's stays", async (t) => {
    const [first, second] = [await mailed({ text: 'Amaranth' }), await mailed({ text: 'Mine' })];
    await service.post(`/conversations/${first.id}/notes`, { body: 'About amaranth' }, ann.token);
    await service.post('/drafts', { conversationId: first.id, mail: { body: 'Unsent' } }, ann.token);
    await merge(first.id, second.id);
    const { contactId } = await record(second.id);
    const erase = command('test.erase', (ctx, _: object): void => void eraseContact(ctx.db, { contactId, at: ctx.at }));
    const of = { workspaceId: owner.workspaceId, caller: systemCaller, params: {} };
    await service.running.services.engine.execute(erase, of);
    t.same(await bodies(second.id), ['Amaranth', '[erased]']);
    t.match((await service.get(`/conversations/${second.id}/notes`, owner.token)).body.notes, [
      { body: 'About amaranth' },
    ]);
    const [message] = await service.messages(second.id, owner.token);
    t.match(await service.get(`/conversations/${second.id}/messages/${message.id}/original`, owner.token), {
      body: { text: /Amaranth/ },
    });
    t.match((await service.get(`/drafts?conversationId=${second.id}`, ann.token)).body.drafts, [
      { mail: { body: 'Unsent' } },
    ]);
  });

  t.test("[erasure] an address that ends another's; a side message stays one; a merged contact is found", async (t) => {
    const [erased, other] = [await mailed({ from: 'o@acme.example' }), await mailed()];
    const copiedTo = ['leo@acme.example'];
    await service.put(`/conversations/${other.id}/copied-to`, { copiedTo }, ann.token);
    const [question] = await service.messages(other.id, owner.token);
    const aside = { body: 'Please look', forwardOf: question.id, to: ['o@acme.example'] };
    const { status, body: side } = await service.post(`/conversations/${other.id}/messages`, aside, ann.token);
    t.equal(status, 201);
    await service.settled();
    const { contactId } = await record(erased.id);
    const { body: second } = await service.post('/contacts', { name: 'Olga', phoneE164: '+4917012349999' }, ann.token);
    await service.post(`/contacts/${second.contact.id}/merge`, { into: contactId }, ann.token);
    const named = command('test.erase', (ctx, _: object) => {
      const found = contactsNamed(ctx.db, '+4917012349999').map(({ id }) => id);
      eraseContact(ctx.db, { contactId, at: ctx.at });
      return found;
    });
    const of = { workspaceId: owner.workspaceId, caller: systemCaller, params: {} };
    t.same(await service.running.services.engine.execute(named, of), [contactId]);
    t.match((await service.audited('conversation.copies_changed', owner.token))[0], { after: { copiedTo } });
    const kept = (await service.messages(other.id, owner.token)).find(({ id }) => id === side.id);
    t.match(kept, { body: 'Please look', mail: { side: { messageId: question.id } } });
    t.notMatch(JSON.stringify(kept), /[^e]o@acme/);
  });

  t.test('[split] a message is a ticket of its sender, with its mail', async (t) => {
    const first = await mailed();
    await service.deliver(mailbox, {
      from: `Cleo <${first.customer}>`,
      messageId: '<split1@customer.example>',
      subject: 'And another thing',
      headers: { 'In-Reply-To': first.mailId },
      text: 'Where is my quixotic invoice?',
    });
    const message = (await service.messages(first.id, owner.token)).at(-1);
    const { status, body } = await split(first.id, message.id, { subject: 'Invoice' });
    t.equal(status, 201);
    const ticket = body.conversation;
    t.match(ticket, { channel: 'ticket', subject: 'Invoice', status: 'open', assignedAgentId: null, copiedTo: [] });
    t.equal(ticket.visitorId, (await record(first.id)).visitorId);
    t.match(ticket, { waitingSince: message.createdAt, preview: message.body });
    t.same(await service.messages(ticket.id, owner.token), [{ ...message, conversationId: ticket.id }]);
    t.same(await bodies(first.id), [first.text]);
    t.match(await record(first.id), { preview: first.text, lastMessageAt: String });
    t.match(await lines(first.id), [`Ann made a message into ticket #${ticket.ticketNumber}.`]);
    t.match(await lines(ticket.id), [`Ann made this from a message in ticket #${first.number}.`]);
    t.same(await search('quixotic'), [ticket.id]);
    t.match(await service.get(`/conversations/${ticket.id}/messages/${message.id}/original`, owner.token), {
      status: 200,
      body: { subject: 'And another thing' },
    });
    for (const [to, text] of [
      ['<split1@customer.example>', 'About the invoice'],
      [first.mailId, 'About the cup'],
    ] as const) {
      service.clock.advance(1000);
      await service.deliver(mailbox, {
        from: `Cleo <${first.customer}>`,
        messageId: `<re${text.length}@customer.example>`,
        headers: { 'In-Reply-To': to },
        text,
      });
    }
    t.same(await bodies(ticket.id), ['Where is my quixotic invoice?', 'About the invoice']);
    t.same(await bodies(first.id), [first.text, 'About the cup']);
    t.match((await service.audited('conversation.split', owner.token))[0], {
      targetId: first.id,
      context: { messageId: message.id, into: ticket.id },
    });
    await send(ticket.id, 'Here it is.');
    await service.settled();
    t.match(service.newestMail(first.customer), { subject: 'Re: Invoice', text: /Here it is/ });
    t.equal((await merge(ticket.id, first.id)).status, 200, 'merging it back undoes it');
    t.same(await bodies(first.id), [
      first.text,
      'Where is my quixotic invoice?',
      'About the invoice',
      'About the cup',
      'Here it is.',
    ]);
    t.match(await record(first.id), { copiedTo: [] });
    sound(t);
  });

  t.test('[split] someone who received a copy gets a ticket of its own', async (t) => {
    const first = await mailed({ cc: ['dora@customer.example'] });
    await service.put(`/conversations/${first.id}/copied-to`, { copiedTo: ['dora@customer.example'] }, ann.token);
    await service.deliver(mailbox, {
      from: 'Dora <dora@customer.example>',
      messageId: '<dora1@customer.example>',
      headers: { 'In-Reply-To': first.mailId },
      text: 'I have a question of my own',
    });
    const message = (await service.messages(first.id, owner.token)).at(-1);
    t.equal(message.body, 'I have a question of my own');
    const ticket = (await split(first.id, message.id)).body.conversation;
    t.equal(ticket.visitorId, message.senderId);
    await send(ticket.id, 'For Dora');
    await service.settled();
    t.match(service.newestMail('dora@customer.example'), { text: /For Dora/ });
    t.notMatch(service.newestMail(first.customer), { text: /For Dora/ });
  });

  t.test('[split] a form is answered at the address that it names; so is who has written no mail', async (t) => {
    const first = await mailed();
    const form = await mailed({
      from: 'no-reply@forms.example',
      headers: { 'Reply-To': 'Fay <fay@customer.example>' },
    });
    await merge(form.id, first.id);
    const message = (await service.messages(first.id, owner.token)).at(-1);
    const ticket = (await split(first.id, message.id)).body.conversation;
    await send(ticket.id, 'For Fay');
    const gus = await service.customer(owner.embedId, { name: 'Gus' });
    const left = { email: 'gus@customer.example', body: 'From the widget' };
    t.equal((await service.post('/widget/tickets', left, gus.token)).status, 201);
    await merge((await service.tickets(owner.token)).at(-1).id, first.id);
    const asked = (await service.messages(first.id, owner.token)).at(-1);
    t.equal(asked.body, 'From the widget');
    const other = await split(first.id, asked.id);
    t.equal(other.status, 201);
    await send(other.body.conversation.id, 'For Gus');
    await service.settled();
    t.match(service.newestMail('fay@customer.example'), { text: /For Fay/ });
    t.match(service.newestMail('gus@customer.example'), { text: /For Gus/ });
    t.equal(service.mailCount('no-reply@forms.example'), 0);
  });

  t.test('[split] needs the right to open tickets; who could not see the new one has it', async (t) => {
    const [junior, mover] = [await service.agent(owner), await service.agent(owner)];
    await service.patch(`/agents/${mover.agentId}`, { canTransfer: true }, owner.token);
    const { body: department } = await service.post('/departments', { name: 'Tax' }, owner.token);
    const first = await mailed();
    const headers = { 'In-Reply-To': first.mailId };
    await service.deliver(mailbox, { from: first.customer, messageId: '<tax@customer.example>', headers, text: 'Two' });
    const message = (await service.messages(first.id, owner.token)).at(-1);
    t.match(await split(first.id, message.id, {}, junior.token), { status: 403, body: { error: 'forbidden' } });
    await service.post(`/conversations/${first.id}/take`, {}, mover.token);
    const path = `/conversations/${first.id}/assign-to-department`;
    await service.post(path, { departmentId: department.id }, owner.token);
    const { version } = await record(first.id);
    const given = { agentId: mover.agentId, expectedVersion: version, force: true };
    await service.post(`/conversations/${first.id}/assign-to-agent`, given, owner.token);
    const { status, body } = await split(first.id, message.id, {}, mover.token);
    t.equal(status, 201);
    t.match(body.conversation, { departmentId: department.id, assignedAgentId: mover.agentId });
  });

  t.test('[split] refused: what is no question of a customer, the only message, other channels, rights', async (t) => {
    const first = await mailed();
    const [only] = await service.messages(first.id, owner.token);
    t.match(await split(first.id, only.id), { status: 422, body: { error: 'semantic_error' } });
    const { body: sent } = await send(first.id, 'An answer');
    t.match(await split(first.id, sent.id), { status: 422, body: { error: 'semantic_error' } });
    t.match(await split(first.id, ann.agentId), { status: 404 });
    t.match(await split(first.id, only.id, { subject: ' ' }), { status: 400 });
    t.match(await split(first.id, only.id, { expectedVersion: 99 }), { body: { error: 'stale_version' } });
    t.match(await split(first.id, only.id, {}, chatter.token), { status: 403 });
    t.match(await split(first.id, only.id, {}, stranger.token), { status: 404 });
    const chat = await service.chat(owner);
    const [said] = await service.messages(chat.id, owner.token);
    t.match(await split(chat.id, said.id, {}, owner.token), { status: 422 });
    await service.post(`/conversations/${first.id}/spam`, {}, ann.token);
    t.match(await split(first.id, only.id), { status: 409, body: { error: 'illegal_status_transition' } });
  });

  t.test('for any sequence of merges, undone merges and splits, each message is in one ticket, once', async (t) => {
    const seed = 20261127;
    const random = randomFrom(seed);
    const tickets: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      const { id, customer, mailId } = await mailed();
      const headers = { 'In-Reply-To': mailId };
      const more = { from: `Cleo <${customer}>`, messageId: `<more${index}@customer.example>`, headers };
      await service.deliver(mailbox, { ...more, text: `More of ${index}` });
      await send(id, `Answer ${index}`);
      tickets.push(id);
    }
    await service.settled();
    const everything = async () => {
      const rows: string[] = [];
      for (const id of tickets)
        for (const message of await service.messages(id, owner.token)) {
          t.equal(message.conversationId, id);
          rows.push(message.id);
        }
      return rows.sort();
    };
    const before = await everything();
    t.equal(before.length, 18);
    const done = { merge: 0, unmerge: 0, split: 0 };
    for (let step = 0; step < 60; step += 1) {
      const id = random.pick(tickets);
      const act = random.pick(['merge', 'merge', 'unmerge', 'unmerge', 'split'] as const);
      const [message] = await service.messages(id, owner.token);
      const { status, body } =
        act === 'merge'
          ? await merge(id, random.pick(tickets))
          : act === 'unmerge'
            ? await unmerge(id)
            : await split(id, message?.id ?? id);
      t.ok(status < 500, `${act}: ${status}, seed ${seed}`);
      if (status >= 400) continue;
      done[act] += 1;
      if (act === 'split') tickets.push(body.conversation.id);
      service.clock.advance(random.pick([0, 1, 1000]));
    }
    t.ok(done.merge > 5 && done.unmerge > 3 && done.split > 1, JSON.stringify(done));
    t.same(await everything(), before, `seed ${seed}`);
    sound(t);
  });

  t.test('keys and apps need the scopes of what they move', async (t) => {
    const [one, other] = [await mailed(), await mailed()];
    await send(one.id, 'An answer');
    const [message] = await service.messages(one.id, owner.token);
    const all = ['conversations:write', 'messages:read', 'messages:send'];
    const reading = all.slice(0, 2);
    const calls: [readonly string[], (token: string) => Promise<{ status: number; body: any }>][] = [
      [all, (token) => merge(one.id, other.id, {}, token)],
      [reading, (token) => unmerge(one.id, token)],
      [reading, (token) => split(one.id, message.id, {}, token)],
    ];
    for (const [scopes, call] of calls) {
      for (const missing of scopes) {
        const refused = { status: 403, body: { error: 'insufficient_scope', detail: { scope: missing } } };
        t.match(
          await call(await makeKey(service, owner, { scopes: scopes.filter((scope) => scope !== missing) })),
          refused,
        );
      }
      const { status } = await call(await makeKey(service, owner, { scopes }));
      t.ok([200, 201].includes(status), `${status}`);
    }
    sound(t);
  });
});
