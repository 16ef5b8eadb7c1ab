import t from 'tap';
import { subjectKeyOf } from '../../engine/mail-addresses.ts';
import { type Mailbox, type Person, type Service, startService } from '../support/service.ts';

const carla = 'carla@customer.example';

t.test('threading', async (t) => {
  const service = await startService(t, { env: { TOKEN_TTL_DAYS: '30' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  let count = 0;
  /** Delivers one and returns its message and its ticket. */
  const deliver = async (mail: Record<string, unknown>): Promise<any> => {
    count += 1;
    const messageId = `<m${count}@customer.example>`;
    service.clock.advance(20 * 60_000);
    t.equal((await service.deliver(mailbox, { messageId, text: `Text of ${messageId}`, ...mail })).status, 200);
    for (const ticket of (await service.tickets(owner.token)).reverse()) {
      const message = (await service.messages(ticket.id, owner.token)).find(
        ({ body }) => body === `Text of ${messageId}`,
      );
      if (message !== undefined) return { ...message, ticket, mailId: messageId };
    }
    throw new Error('the mail is nowhere');
  };

  t.test(
    '[4.20] In-Reply-To, then References from their end, then the subject; each is recorded with the message it matched',
    async (t) => {
      const root = await deliver({ subject: 'Broken cup' });
      t.same(root.threading, { rule: 'new', matchedMessageId: null, reason: null });
      const reply = await deliver({ subject: 'Something else', headers: { 'In-Reply-To': root.mailId } });
      t.equal(reply.conversationId, root.conversationId);
      t.same(reply.threading, { rule: 'in_reply_to', matchedMessageId: root.id, reason: null });
      const chained = await deliver({
        subject: 'Else again',
        headers: { References: `<unknown@x> ${root.mailId} ${reply.mailId}` },
      });
      t.same(chained.threading, { rule: 'references', matchedMessageId: reply.id, reason: null });
      const both = await deliver({ headers: { 'in-reply-to': '<unknown-too@x>', references: `${root.mailId}` } });
      t.same(
        both.threading,
        { rule: 'references', matchedMessageId: root.id, reason: null },
        'an unknown In-Reply-To leaves it to the chain',
      );
      const subject = await deliver({ subject: 'RE: AW: Fwd: re[2]:  broken   CUP ' });
      t.equal(subject.conversationId, root.conversationId);
      t.same(
        subject.threading,
        { rule: 'subject', matchedMessageId: both.id, reason: null },
        'the newest of the thread',
      );
    },
  );

  t.test(
    '[4.20] a reference that matches nothing starts a new conversation; the subject serves only mail without either header',
    async (t) => {
      const root = await deliver({ subject: 'Blue plate' });
      const lost = await deliver({ subject: 'Re: Blue plate', headers: { 'In-Reply-To': '<never-seen@x>' } });
      t.not(lost.conversationId, root.conversationId);
      t.same(lost.threading, { rule: 'new', matchedMessageId: null, reason: 'unknown_reference' });
    },
  );

  t.test('[4.20] an empty subject is no signal', async (t) => {
    const one = await deliver({ subject: '' });
    const other = await deliver({ subject: 'Re:' });
    t.not(one.conversationId, other.conversationId);
    t.equal(one.ticket.subject, '(no subject)');
  });

  t.test("[4.20] naming a conversation's mail or subject gives no access to it", async (t) => {
    const root = await deliver({ subject: 'Invoice 4711' });
    for (const [from, headers] of [
      ['mallory@elsewhere.example', { 'In-Reply-To': root.mailId }],
      ['mario@elsewhere.example', { References: root.mailId }],
    ] as const) {
      const intruder = await deliver({ from, subject: 'Re: Invoice 4711', headers });
      t.not(intruder.conversationId, root.conversationId);
      t.same(intruder.threading, { rule: 'new', matchedMessageId: null, reason: 'sender_not_on_thread' });
    }
    const again = await deliver({ from: 'mallory@elsewhere.example', headers: { References: root.mailId } });
    t.equal(again.ticket.visitorId, again.senderId, 'its next mail is in a conversation of its own');
    const bySubject = await deliver({ from: 'moritz@elsewhere.example', subject: 'Invoice 4711' });
    t.not(bySubject.conversationId, root.conversationId);
    const answer = await deliver({ headers: { 'In-Reply-To': root.mailId } });
    t.equal(answer.conversationId, root.conversationId, 'its own customer still gets in');
  });

  t.test('[4.20] all recipients of the thread are on it', async (t) => {
    const root = await deliver({ subject: 'For two', to: [mailbox.address, 'Friend <friend@customer.example>'] });
    const friend = await deliver({
      from: 'FRIEND@customer.example',
      subject: 'Re: For two',
      headers: { 'In-Reply-To': root.mailId },
    });
    t.equal(friend.conversationId, root.conversationId);
    t.not(friend.senderId, root.senderId, 'and is another person');
    const uninvited = await deliver({
      from: 'other@customer.example',
      to: [mailbox.address, 'accomplice@elsewhere.example'],
      headers: { References: root.mailId },
    });
    t.not(uninvited.conversationId, root.conversationId);
    const accomplice = await deliver({ from: 'accomplice@elsewhere.example', headers: { References: root.mailId } });
    t.not(accomplice.conversationId, root.conversationId, 'addressing people outside of the thread adds no one');
  });

  t.test("[4.20] the answer to an agent's mail joins its ticket", async (t) => {
    const { body: ticket } = await service.post(
      '/tickets',
      { customerEmail: 'dora@customer.example', subject: 'Your parcel', body: 'It is on its way.' },
      owner.token,
    );
    const mail = await service.mail('dora@customer.example');
    const answer = await deliver({
      from: 'Dora <dora@customer.example>',
      subject: 'Re: Your parcel',
      headers: { 'In-Reply-To': `<${mail.id}@switchboard.test>` },
    });
    t.equal(answer.conversationId, ticket.id);
    t.equal(answer.threading.rule, 'in_reply_to');
    const bySubject = await deliver({ from: 'dora@customer.example', subject: 'AW: Your parcel' });
    t.equal(bySubject.conversationId, ticket.id, 'also by a client that forgets headers');
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'Good.' }, owner.token);
    const next = await service.mail('dora@customer.example');
    t.equal(next.inReplyTo, bySubject.mailId.slice(1, -1), "answers go to the customer's last mail");
    t.same(next.references, [`${mail.id}@switchboard.test`, answer.mailId.slice(1, -1), bySubject.mailId.slice(1, -1)]);
  });

  t.test(
    "[3] a customer's mail reopens a solved or closed ticket; on spam it is stored and changes nothing",
    async (t) => {
      const root = await deliver({ subject: 'Again and again' });
      const answerTo = { headers: { 'In-Reply-To': root.mailId } };
      await service.post(`/conversations/${root.conversationId}/status`, { status: 'solved' }, owner.token);
      t.equal((await deliver(answerTo)).ticket.status, 'open', 'solved');
      const lines = (
        await service.get(`/conversations/${root.conversationId}/messages`, owner.token)
      ).body.messages.filter(({ senderType }: { senderType: string }) => senderType === 'system');
      t.match(
        lines.at(-1),
        { senderId: null, body: 'The customer came back: solved became open.' },
        'and says by whom',
      );
      await service.post(`/conversations/${root.conversationId}/status`, { status: 'solved' }, owner.token);
      await service.pass(8 * 24 * 3600_000);
      t.equal((await service.conversation(root.conversationId, owner.token)).status, 'closed');
      t.equal((await deliver(answerTo)).ticket.status, 'open', 'closed');
      await service.post(`/conversations/${root.conversationId}/spam`, undefined, owner.token);
      t.equal((await service.deliver(mailbox, { messageId: '<spam@x>', ...answerTo })).status, 200);
      await service.post(`/conversations/${root.conversationId}/not-spam`, undefined, owner.token);
      t.equal((await service.messages(root.conversationId, owner.token)).length, 4, 'it was stored');
    },
  );
});

t.test('[4.20] Re: and Fwd: of many clients are no part of a subject', async (t) => {
  for (const subject of [
    'Re: Offer',
    'RE:Offer',
    're : offer',
    'Fwd: Re: Offer',
    'FW: Offer',
    'AW: WG: Offer',
    'Sv: Offer',
    'Antw.: Offer'.replace('.', ''),
    'RV: Offer',
    'TR: Offer',
    'R: Offer'.replace('R:', 'RIF:'),
    'Odp: Offer',
    'Re[3]: Offer',
    'Re(2): Offer',
    '回复: Offer',
    '答复：Offer',
    '[List] Re: Offer',
    '  Offer\t',
    'Re:\r\n Offer',
  ])
    t.equal(subjectKeyOf(subject), 'offer', subject);
  for (const [subject, key] of [
    ['Reply: Offer', 'reply: offer'],
    ['Referral', 'referral'],
    ['Re Offer', 're offer'],
    ['[Shop] Offer', '[shop] offer'],
    ['Re: ', ''],
    ['', ''],
  ] as const)
    t.equal(subjectKeyOf(subject), key, subject);
  t.equal(subjectKeyOf('re: '.repeat(100_000)).length < 1000, true, 'a hostile one costs no more than any other');
});

/** Repeatable choices: a failing seed can be run again by its number. */
function chooser(seed: number) {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const shuffled = <Item>(items: readonly Item[]): Item[] => {
    const left = [...items];
    return items.map(() => left.splice(next(left.length), 1)[0] as Item);
  };
  return { next, shuffled };
}

interface SetMail {
  readonly messageId: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly headers: Record<string, string>;
}

/**
 * Mails as clients write them: threads of several customers, each with its own subject, whose answers have the whole
 * chain or, from clients that drop headers, only the subject; and strangers who refer to other people's mail.
 */
function mailsOf(seed: number): SetMail[] {
  const { next } = chooser(seed);
  const mails: SetMail[] = [];
  const customers = ['a', 'b', 'c'].map((name) => `${name}@customer.example`);
  let number = 0;
  const add = (mail: Omit<SetMail, 'messageId' | 'text'>): string => {
    number += 1;
    const messageId = `<s${seed}.${number}@customer.example>`;
    mails.push({ ...mail, messageId, text: messageId });
    return messageId;
  };
  for (let thread = 0; thread < 5; thread += 1) {
    const from = customers[next(customers.length)] ?? '';
    const subject = `Thread ${thread} of ${seed}`;
    const forgetful = next(3) === 0;
    const chain: string[] = [];
    for (let length = 1 + next(4); length > 0; length -= 1) {
      const answered = chain.length === 0 ? undefined : chain[next(chain.length)];
      const headers: Record<string, string> =
        forgetful || answered === undefined
          ? {}
          : { 'In-Reply-To': answered, References: chain.slice(0, chain.indexOf(answered) + 1).join(' ') };
      chain.push(add({ from, subject: chain.length === 0 ? subject : `Re: ${subject}`, headers }));
    }
    if (next(2) === 0) {
      const stranger = `stranger${thread}@elsewhere.example`;
      const intruding = add({
        from: stranger,
        subject: `Re: ${subject}`,
        headers: { 'In-Reply-To': chain[0] ?? '', References: chain.join(' ') },
      });
      add({
        from: stranger,
        subject: `Re: ${subject}`,
        headers: { 'In-Reply-To': intruding, References: `${chain.join(' ')} ${intruding}` },
      });
    }
  }
  return mails;
}

/** The mails that share a conversation, as sorted lists of their ids. */
async function threadsOf(
  service: Service,
  owner: Person,
  mailbox: Mailbox,
  mails: readonly SetMail[],
): Promise<string[]> {
  for (const mail of mails) {
    // Far enough apart that no sender counts as automatic.
    service.clock.advance(10 * 60_000);
    const { status } = await service.deliver(mailbox, { ...mail });
    if (status !== 200) throw new Error(`${mail.messageId} was answered ${status}`);
  }
  const threads: string[] = [];
  for (const ticket of await service.tickets(owner.token))
    threads.push(
      (await service.messages(ticket.id, owner.token))
        .map(({ body }) => body)
        .sort()
        .join(' '),
    );
  return threads.sort();
}

t.test('[4.20] any order and any duplication of a set of mails gives the same threads', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  for (let seed = 1; seed <= 5; seed += 1) {
    const mails = mailsOf(seed);
    const { next, shuffled } = chooser(seed * 7919);
    const owner = await service.workspace();
    const expected = await threadsOf(service, owner, await service.mailbox(owner), mails);
    t.ok(
      expected.length > 1 && expected.some((thread) => thread.includes(' ')),
      `seed ${seed}: ${mails.length} mails, ${expected.length} threads`,
    );
    for (const thread of expected) {
      const senders = new Set(thread.split(' ').map((id) => mails.find(({ messageId }) => messageId === id)?.from));
      t.equal(senders.size, 1, `seed ${seed}: no one is in another person's conversation`);
    }
    for (let round = 1; round <= 3; round += 1) {
      const again = await service.workspace();
      const order = shuffled([...mails, ...mails.filter(() => next(2) === 0), ...mails.filter(() => next(4) === 0)]);
      t.same(
        await threadsOf(service, again, await service.mailbox(again), order),
        expected,
        `seed ${seed}, order ${round}`,
      );
    }
  }
});

t.test('[4.20] an answer that arrives before the mail it answers', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  await service.deliver(mailbox, {
    from: 'mallory@elsewhere.example',
    messageId: '<m@x>',
    headers: { References: '<root@x>' },
  });
  await service.deliver(mailbox, {
    from: carla,
    messageId: '<answer@x>',
    subject: 'Re: Late',
    headers: { 'In-Reply-To': '<root@x>', References: '<root@x>' },
  });
  await service.deliver(mailbox, { from: carla, messageId: '<root@x>', subject: 'Late' });
  const tickets = await service.tickets(owner.token);
  t.equal(tickets.length, 2, 'a stranger who named the mail first does not get it');
  const messages = await service.messages(tickets[1].id, owner.token);
  t.equal(messages.length, 2);
  t.same(messages[1].threading, { rule: 'references', matchedMessageId: messages[0].id, reason: null });
});
