import { createHmac } from 'node:crypto';
import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const minuteMs = 60_000;
type Owner = Person & { embedId: string };

/** A chat of a customer who left an address, and what an agent and a reader of its mail do. */
async function chatOf(service: Service, owner: Owner, email: string | undefined, text = 'Do you ship to Malta?') {
  const customer = await service.customer(owner.embedId, email === undefined ? {} : { email });
  const { body } = await service.post('/widget/conversations', { body: text }, customer.token);
  const { id } = body.conversation;
  // The customer's own requests count as being there.
  await service.pass(minuteMs);
  const answer = async (words: string): Promise<string> => {
    const sent = await service.post(`/conversations/${id}/messages`, { body: words }, owner.token);
    if (sent.status !== 201) throw new Error(`an answer was refused with ${sent.status}`);
    return sent.body.id;
  };
  const states = async () =>
    (await service.messages(id, owner.token))
      .filter(({ senderType }) => senderType === 'agent')
      .map(({ body: words, deliveryStatus, mail }) => [words, deliveryStatus, mail?.to ?? null]);
  return { id, customer, answer, states };
}

const setMinutes = (service: Service, owner: Owner, unseenMailMinutes: number) =>
  service.patch(`/workspaces/${owner.workspaceId}`, { unseenMailMinutes }, owner.token);

/** Until the service knows that its visitors have this many sockets. */
async function socketsAre(service: Service, count: number): Promise<void> {
  const said = `switchboard_visitor_sockets ${count}\n`;
  while (!(await (await fetch(new URL('/metrics', service.url))).text()).includes(said));
  await service.settled();
}

t.test('a chat goes on by mail', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test('[decisions, mail] unseen answers leave as one mail, after the minutes, and are not repeated', async (t) => {
    const { id, answer, states } = await chatOf(service, owner, 'dana@customer.example');
    const socket = await service.agentSocket(owner.token);
    await answer('We do.');
    await service.pass(2 * minuteMs);
    await answer('It takes four days.');
    t.same(await states(), [
      ['We do.', null, null],
      ['It takes four days.', null, null],
    ]);
    await service.pass(minuteMs - 1000);
    t.equal(service.mailCount('dana@customer.example'), 0, 'not before the minutes');
    await service.pass(2000);
    const mail = await service.mail('dana@customer.example');
    const { name } = (await service.get(`/workspaces/${owner.workspaceId}`, owner.token)).body.workspace;
    t.match(mail, { from: { address: (await service.mailbox(owner)).address }, subject: name });
    t.match(mail.text, /We do\.[^]*It takes four days\.[^]*http:\/\/switchboard\.test\/c\/\S+/);
    t.notMatch(`${mail.text}${mail.html}`, /Malta/, 'nothing that the visitor wrote');
    t.same(await states(), [
      ['We do.', 'sent', 'dana@customer.example'],
      ['It takes four days.', 'sent', 'dana@customer.example'],
    ]);
    const told = [await socket.next('message.updated'), await socket.next('message.updated')];
    t.match(
      told.map(({ data }) => data),
      [
        { message: { conversationId: id, deliveryStatus: 'queued', mail: { to: 'dana@customer.example' } } },
        { message: { deliveryStatus: 'queued' } },
      ],
      'live',
    );
    t.match(await socket.next('message.updated'), { data: { message: { deliveryStatus: 'sent' } } });
    await service.pass(10 * minuteMs);
    t.equal(service.mailCount('dana@customer.example'), 1, 'once');
    await answer('And costs 5 EUR.');
    await service.pass(3 * minuteMs + 1000);
    const second = await service.mail('dana@customer.example');
    t.match(second.text, /5 EUR/);
    t.notMatch(second.text, /four days/, 'the second mail repeats nothing');
    t.ok(second.inReplyTo, 'and is in the thread of the first');
    await socket.close();
  });

  t.test('[decisions, mail] an answer right after a mail is mailed, too', async (t) => {
    const { answer } = await chatOf(service, owner, 'quinn@customer.example');
    await answer('We do.');
    await service.pass(2.5 * minuteMs);
    await answer('It takes four days.');
    await service.pass(minuteMs / 2 + 1000);
    t.match((await service.mail('quinn@customer.example')).text, /We do\.[^]*four days/);
    await answer('And costs 5 EUR.');
    await service.pass(3 * minuteMs + 1000);
    t.match((await service.mail('quinn@customer.example')).text, /5 EUR/);
  });

  t.test('[decisions, mail] nothing is mailed to a customer who is there or has seen it', async (t) => {
    const { id, customer, answer, states } = await chatOf(service, owner, 'eve@customer.example');
    const socket = await service.visitorSocket(customer.token);
    await service.settled();
    await answer('One moment.');
    await service.pass(10 * minuteMs);
    t.equal(service.mailCount('eve@customer.example'), 0, 'it has a socket');
    await socket.close();
    await socketsAre(service, 0);
    await service.pass(10_000);
    t.equal(service.mailCount('eve@customer.example'), 1, 'it left without looking');
    await answer('Here it is.');
    await service.post(`/widget/conversations/${id}/read`, undefined, customer.token);
    await service.pass(10 * minuteMs);
    t.equal(service.mailCount('eve@customer.example'), 1, 'it has seen the second');
    t.same((await states()).at(-1), ['Here it is.', null, null]);
  });

  t.test('[decisions, mail] asking over HTTP counts as being there for 30 seconds', async (t) => {
    const { id, customer, answer } = await chatOf(service, owner, 'ida@customer.example');
    await answer('Hello.');
    for (let asked = 0; asked < 12; asked += 1) {
      await service.pass(20_000);
      await service.get(`/widget/conversations/${id}/messages`, customer.token);
    }
    await service.pass(29_000);
    t.equal(service.mailCount('ida@customer.example'), 0);
    await service.pass(2000);
    t.equal(service.mailCount('ida@customer.example'), 1);
  });

  t.test('[decisions, mail] never for spam, a blocked visitor, a note, or without an address', async (t) => {
    const spam = await chatOf(service, owner, 'spam@customer.example');
    await spam.answer('Hello.');
    await service.post(`/conversations/${spam.id}/spam`, undefined, owner.token);
    const blocked = await chatOf(service, owner, 'blocked@customer.example');
    await blocked.answer('Hello.');
    await service.post(`/visitors/${blocked.customer.visitorId}/block`, undefined, owner.token);
    const noted = await chatOf(service, owner, 'noted@customer.example');
    await service.post(`/conversations/${noted.id}/notes`, { body: 'Rude.' }, owner.token);
    const nameless = await chatOf(service, owner, undefined);
    await nameless.answer('Where may we write?');
    await service.pass(10 * minuteMs);
    for (const name of ['spam', 'blocked', 'noted']) t.equal(service.mailCount(`${name}@customer.example`), 0, name);
    t.same(await nameless.states(), [['Where may we write?', null, null]]);
    await service.patch('/widget/visitor', { email: 'late@customer.example' }, nameless.customer.token);
    await service.pass(minuteMs);
    t.equal(service.mailCount('late@customer.example'), 1, 'an address that is given later gets what waits');
    await service.post(`/conversations/${spam.id}/not-spam`, undefined, owner.token);
    await service.post(`/visitors/${blocked.customer.visitorId}/unblock`, undefined, owner.token);
    await service.pass(1000);
    for (const name of ['spam', 'blocked'])
      t.equal(service.mailCount(`${name}@customer.example`), 1, `no longer ${name}: what waits leaves`);
  });

  t.test('[decisions, mail] a setting that changes holds for what waits, too', async (t) => {
    await setMinutes(service, owner, 60);
    const { answer } = await chatOf(service, owner, 'finn@customer.example');
    await answer('Soon.');
    await service.pass(10 * minuteMs);
    t.equal(service.mailCount('finn@customer.example'), 0);
    await setMinutes(service, owner, 0);
    await service.pass(60 * minuteMs);
    t.equal(service.mailCount('finn@customer.example'), 0, '0 is off');
    await setMinutes(service, owner, 0.5);
    await service.settled();
    await service.pass(1000);
    t.equal(service.mailCount('finn@customer.example'), 1);
    await answer('Now.');
    await service.pass(31_000);
    t.equal(service.mailCount('finn@customer.example'), 2, 'fractions of minutes are taken');
    await setMinutes(service, owner, 3);
  });

  t.test('[decisions, mail] who wrote is named as customers know the agent', async (t) => {
    const agent = await service.agent(owner, { name: 'Aylin Demir' });
    const { id } = await chatOf(service, owner, 'zoe@customer.example');
    await service.post(`/conversations/${id}/messages`, { body: 'It is blue.' }, agent.token);
    await service.patch(`/agents/${agent.agentId}`, { publicName: 'Ay' }, agent.token);
    await service.pass(4 * minuteMs);
    const mail = await service.mail('zoe@customer.example');
    t.match(mail.from.name, /^Ay \(/);
    t.match(mail.text, /^Ay:\nIt is blue\./);
  });

  t.test('[decisions, mail] an address that bounced before gets nothing, and the agent is told', async (t) => {
    const { id, answer, states } = await chatOf(service, owner, 'gone@customer.example');
    const { engine } = service.running.services;
    const workspace = engine.workspace(owner.workspaceId);
    workspace?.db.run(
      "INSERT INTO suppression (id, email, reason, createdAt) VALUES ('00000000-0000-7000-8000-000000000001', 'gone@customer.example', 'bounce', '2026-01-01T00:00:00.000Z')",
    );
    await answer('Are you still there?');
    await service.pass(4 * minuteMs);
    t.equal(service.mailCount('gone@customer.example'), 0);
    t.match(await states(), [['Are you still there?', 'failed', null]]);
    const { body } = await service.get(`/conversations/${id}/messages`, owner.token);
    t.match(body.messages.at(-1), { senderType: 'system', body: /Not mailed/ });
  });
});

t.test('[decisions, mail] three mails an hour and ten a day to an address that is only claimed', async (t) => {
  const service = await startService(t);
  const to = 'victim@customer.example';
  for (let shop = 0; shop < 2; shop += 1) {
    const owner = await service.workspace();
    for (let chat = 0; chat < 2; chat += 1) await (await chatOf(service, owner, to)).answer(`Hello ${shop} ${chat}`);
  }
  await service.pass(4 * minuteMs);
  t.equal(service.mailCount(to), 3, 'over all workspaces');
  await service.pass(80 * minuteMs);
  t.equal(service.mailCount(to), 4, 'the fourth leaves later');
});

t.test('[decisions, mail] a mail that waits does not leave once it must not, and its answers wait again', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const to = 'busy@customer.example';
  for (let chat = 0; chat < 3; chat += 1) await (await chatOf(service, owner, to)).answer(`Hello ${chat}`);
  const last = await chatOf(service, owner, to);
  await last.answer('And this.');
  await service.pass(4 * minuteMs);
  t.equal(service.mailCount(to), 3);
  t.same(await last.states(), [['And this.', 'queued', to]]);
  await setMinutes(service, owner, 0);
  await service.pass(80 * minuteMs);
  t.equal(service.mailCount(to), 3, 'switched off meanwhile');
  t.same(await last.states(), [['And this.', null, null]]);
  await setMinutes(service, owner, 3);
  await service.pass(1000);
  t.equal(service.mailCount(to), 4, 'and on again');
  t.same(await last.states(), [['And this.', 'sent', to]]);
});

t.test('[decisions, mail] a crash repeats and loses nothing', async (t) => {
  const dataDir = tempFolder(t);
  const clock = new ManualClock();
  const first = await startService(t, { dataDir, clock });
  const owner = await first.workspace();
  const { answer, id, customer } = await chatOf(first, owner, 'kay@customer.example');
  const socket = await first.visitorSocket(customer.token);
  await first.settled();
  await answer('Still here?');
  await first.pass(10 * minuteMs);
  t.equal(first.mailCount('kay@customer.example'), 0);
  await first.stop();
  await socket.closed;
  const second = await startService(t, { dataDir, clock });
  await second.settled();
  await second.pass(5 * minuteMs);
  t.equal(second.mailCount('kay@customer.example'), 1, 'a socket that ended with the process has ended');
  await second.stop();
  const third = await startService(t, { dataDir, clock });
  await third.pass(5 * minuteMs);
  t.equal(third.mailCount('kay@customer.example'), 0, 'and what was mailed stays so');
  t.match(await third.messages(id, owner.token), [{}, { deliveryStatus: 'sent' }]);
});

t.test('an answer by mail', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const secretWords = 'My number is 4711.';

  /** A chat whose answer was mailed, and a reply to that mail. */
  async function mailed(email: string) {
    const chat = await chatOf(service, owner, email);
    await chat.answer('We do. What is your number?');
    await service.pass(4 * minuteMs);
    const mail = await service.mail(email);
    const mailId = `${mail.id}@${mailbox.address.split('@')[1]}`;
    const reply = (from: string, more: object = {}) =>
      service.deliver(mailbox, {
        from,
        subject: `Re: ${mail.subject}`,
        text: secretWords,
        messageId: `<${Math.random()}@customer.example>`,
        headers: { 'in-reply-to': `<${mailId}>`, ...more },
      });
    const link = /http:\/\/switchboard\.test(\/c\/(\S+))/.exec(mail.text);
    return { ...chat, mail, mailId, reply, path: link?.[1] ?? '', proof: link?.[2] ?? '' };
  }
  const seenBy = async (token: string, id: string): Promise<string[]> => {
    const { body } = await service.get(`/widget/conversations/${id}/messages`, token);
    return body.messages.map((message: { body: string }) => message.body);
  };

  t.test('[decisions, reply] it is a message of the visitor in the same chat, and reopens it', async (t) => {
    const { id, customer, reply, answer } = await mailed('dana@customer.example');
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    t.equal((await reply('Dana <dana@customer.example>')).status, 200);
    const last = (await service.messages(id, owner.token)).at(-1);
    t.match(last, {
      senderType: 'visitor',
      senderId: customer.visitorId,
      body: secretWords,
      threading: { rule: 'in_reply_to' },
      mail: { from: { address: 'dana@customer.example' } },
    });
    t.match((await service.get(`/conversations/${id}`, owner.token)).body.conversation, {
      channel: 'chat',
      status: 'open',
      preview: secretWords,
    });
    await answer('Thank you.');
    await service.pass(4 * minuteMs);
    const next = await service.mail('dana@customer.example');
    t.match(next.inReplyTo, /customer\.example$/, 'the next mail answers it');
    t.match(next.subject, /^Shop/, 'an answer proves nothing to this browser');
  });

  t.test('[decisions, reply] from another address it is a ticket of its own', async (t) => {
    const { id, reply } = await mailed('eve@customer.example');
    await reply('mallory@elsewhere.example');
    t.equal((await service.messages(id, owner.token)).length, 2);
    const ticket = (await service.tickets(owner.token)).at(-1);
    t.match((await service.messages(ticket.id, owner.token))[0], { threading: { reason: 'sender_not_on_thread' } });
    t.same(ticket.copiedTo, []);
  });

  t.test('[decisions, reply] only the address that a mail went to answers it', async (t) => {
    const { id, customer, reply } = await mailed('first@customer.example');
    await service.patch('/widget/visitor', { email: 'second@customer.example' }, customer.token);
    await service.post(`/conversations/${id}/messages`, { body: 'Still there?' }, owner.token);
    await service.pass(4 * minuteMs);
    await service.mail('second@customer.example');
    await reply('second@customer.example');
    t.equal((await service.messages(id, owner.token)).length, 3, 'the first mail went elsewhere');
    await reply('first@customer.example');
    t.equal((await service.messages(id, owner.token)).length, 4);
  });

  t.test('[decisions, reply] a blocked visitor is not heard by mail either', async (t) => {
    const { id, customer, reply } = await mailed('blocked@customer.example');
    await service.post(`/visitors/${customer.visitorId}/block`, undefined, owner.token);
    await reply('blocked@customer.example');
    t.equal((await service.messages(id, owner.token)).length, 2);
    t.match((await service.audited('email.dropped', owner.token))[0], { context: { reason: 'blocked' } });
  });

  t.test('[decisions, address] the browser that claimed the address does not see it; the link proves it', async (t) => {
    const { id, customer, reply, path, proof, answer } = await mailed('kim@customer.example');
    const claiming = await service.visitorSocket(customer.token);
    await reply('kim@customer.example');
    await service.settled();
    t.same(await seenBy(customer.token, id), ['Do you ship to Malta?', 'We do. What is your number?']);
    const session = (more: object) =>
      service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/', ...more });
    const claimed = await session({ visitorToken: customer.token });
    t.equal(claimed.body.conversation.preview, 'We do. What is your number?');
    await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token);
    t.equal((await claiming.next('conversation.updated')).data['conversation'].preview, 'We do. What is your number?');
    t.notOk(claiming.events.includes('message.created'), 'nor does its socket');
    const late = await service.visitorSocket(customer.token, { since: 0 });
    await late.flushed();
    t.notMatch(JSON.stringify(late.frames), /4711/, 'nor one that catches up');

    const opened = await fetch(new URL(path, service.url), { redirect: 'manual' });
    t.equal(opened.status, 302);
    t.match(opened.headers.get('location'), `#switchboard=${proof}`);
    const proved = await session({ proof });
    t.equal(proved.status, 200);
    t.equal(proved.body.visitor.id, customer.visitorId);
    t.not(proved.body.visitorToken, customer.token);
    t.equal(proved.body.conversation.preview, secretWords);
    const { visitorToken } = proved.body;
    t.same((await seenBy(visitorToken, id)).at(-1), secretWords);
    const proving = await service.visitorSocket(visitorToken, { since: 0 });
    await proving.flushed();
    t.match(JSON.stringify(proving.frames), /4711/);
    t.equal((await session({ visitorToken })).body.visitorToken, visitorToken, 'a page later it still is');
    for (const socket of [claiming, late, proving]) await socket.close();
    await service.get(`/widget/conversations/${id}/messages`, visitorToken);
    await service.pass(minuteMs);
    await answer('Found it.');
    await service.pass(5 * minuteMs);
    const next = await service.mail('kim@customer.example');
    t.match(next.subject, 'Re: Do you ship to Malta?', 'from now on mails name what it is about');
    t.match(next.text, `> ${secretWords}`);
  });

  t.test("[decisions, address] a site's signature proves the address", async (t) => {
    const { body } = await service.get('/sites', owner.token);
    const { identitySecret } = body.sites[0];
    const agent = await service.agent(owner);
    t.notOk((await service.get('/sites', agent.token)).body.sites[0].identitySecret, 'the secret is for admins');
    const { id, customer, reply } = await mailed('sam@customer.example');
    await reply('sam@customer.example');
    const sign = (email: string) => createHmac('sha256', identitySecret).update(email).digest('hex');
    const identify = (email: string, signature: string) =>
      service.patch('/widget/visitor', { email, signature }, customer.token);
    t.match(await identify('sam@customer.example', sign('other@customer.example')), {
      status: 400,
      body: { detail: { fieldErrors: { signature: [String] } } },
    });
    const { status, body: identified } = await identify('sam@customer.example', sign('sam@customer.example'));
    t.equal(status, 200);
    t.equal((await seenBy(identified.visitorToken, id)).at(-1), secretWords);
    t.not((await seenBy(customer.token, id)).at(-1), secretWords, 'the earlier token stays what it was');
  });

  t.test('[decisions, address] an old or invented proof is refused', async (t) => {
    const { proof, path } = await mailed('old@customer.example');
    const open = (token: string) =>
      service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/', proof: token });
    t.match(await open(`${proof.slice(0, -2)}xx`), {
      status: 400,
      body: { detail: { fieldErrors: { proof: [String] } } },
    });
    await service.pass(30 * 24 * 60 * minuteMs);
    t.match(await open(proof), { status: 400, body: { error: 'invalid_body' } });
    t.equal((await fetch(new URL(path, service.url), { redirect: 'manual' })).status, 200, 'a page says so');
  });
});

t.test('customers who cannot be reached', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const unreachable = async (id: string): Promise<boolean> =>
    (await service.get(`/conversations/${id}`, owner.token)).body.conversation.unreachable;

  t.test('[decisions, unreachable] gone for the minutes and without an address; told when it changes', async (t) => {
    const { id, customer } = await service.chat(owner);
    const watching = await service.agentSocket(owner.token);
    const socket = await service.visitorSocket(customer.token);
    await service.settled();
    await service.pass(10 * minuteMs);
    t.equal(await unreachable(id), false, 'it is there');
    await socket.close();
    await socketsAre(service, 0);
    await service.pass(10_000);
    await service.pass(2 * minuteMs);
    t.equal(await unreachable(id), false);
    await service.pass(minuteMs);
    t.equal(await unreachable(id), true);
    t.match(await watching.next('conversation.updated'), { data: { conversation: { id, unreachable: true } } });
    const back = await service.visitorSocket(customer.token);
    await service.settled();
    t.equal(await unreachable(id), false, 'it is back');
    await back.close();
    await socketsAre(service, 0);
    await service.pass(10_000);
    await service.pass(4 * minuteMs);
    t.equal(await unreachable(id), true);
    await service.patch('/widget/visitor', { email: 'late@customer.example' }, customer.token);
    t.equal(await unreachable(id), false, 'it gave an address');
    await service.pass(60 * minuteMs);
    t.equal(await unreachable(id), false);
    await watching.close();
  });

  t.test('[decisions, unreachable] a minute where nothing is mailed; a visitor without sockets', async (t) => {
    await setMinutes(service, owner, 0);
    const { id, customer } = await service.chat(owner);
    await service.pass(minuteMs + 1000);
    t.equal(await unreachable(id), true);
    await service.post(`/widget/conversations/${id}/messages`, { body: 'I am back.' }, customer.token);
    t.equal(await unreachable(id), false);
    const known = await service.customer(owner.embedId, { email: 'ann@customer.example' });
    const { body } = await service.post('/widget/conversations', { body: 'Hello' }, known.token);
    await service.pass(10 * minuteMs);
    t.equal(await unreachable(body.conversation.id), false, 'it can be mailed');
  });

  t.test('[decisions, unreachable] a smaller number of minutes holds for those who have left, too', async (t) => {
    await setMinutes(service, owner, 600);
    const { id, customer } = await service.chat(owner);
    const socket = await service.visitorSocket(customer.token);
    await service.settled();
    await socket.close();
    await socketsAre(service, 0);
    await service.pass(10_000);
    await service.pass(5 * minuteMs);
    t.equal(await unreachable(id), false);
    await setMinutes(service, owner, 10);
    await service.pass(4 * minuteMs);
    t.equal(await unreachable(id), false, 'not yet');
    await service.pass(minuteMs);
    t.equal(await unreachable(id), true);
    await setMinutes(service, owner, 3);
  });
});

t.test('[decisions, receipts] a question that was left is answered by its number', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const customer = await service.customer(owner.embedId);
  const question = { email: 'Lea@customer.example', name: 'Lea', body: 'Do you repair kettles?' };
  const { status, body } = await service.post('/widget/tickets', question, customer.token);
  t.equal(status, 201);
  const receipt = await service.mail('lea@customer.example');
  t.match(receipt, { from: { address: mailbox.address }, headers: { 'Auto-Submitted': 'auto-replied' } });
  t.match(receipt.text, `${body.ticketNumber}`);
  t.notMatch(`${receipt.subject}${receipt.text}${receipt.html}`, /kettle|Lea\b/, 'nothing that the visitor wrote');
  const [ticket] = await service.tickets(owner.token);
  await service.deliver(mailbox, {
    from: 'lea@customer.example',
    subject: `Re: ${receipt.subject}`,
    text: 'It is a blue one.',
    headers: { 'in-reply-to': `<${receipt.id}@${mailbox.address.split('@')[1]}>` },
  });
  t.match(
    (await service.messages(ticket.id, owner.token)).map(({ body: text, deliveryStatus }) => [text, deliveryStatus]),
    [
      ['Do you repair kettles?', null],
      ['It is a blue one.', null],
    ],
    'an answer to it lands in the ticket',
  );
});
