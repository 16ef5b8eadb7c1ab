// Limits over hours and days, so that a stranger's workspace costs the operator little, and their messages.

import { join } from 'node:path';
import t from 'tap';
import type { Log } from '../../engine/runtime/log.ts';
import { tempFolder } from '../support/folder.ts';
import { type Answer, password, type Service, startService } from '../support/service.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;

const full = (ceiling: string, limit: number) => ({
  status: 429,
  body: { error: 'rate_limited', message: /in an hour|in a day/, detail: { ceiling, limit }, retryAfter: Number },
});
const ticketTo = (service: Service, token: string, customerEmail: string): Promise<Answer> =>
  service.post('/tickets', { customerEmail, subject: 'Your order', body: 'It is on its way.' }, token);
const transcriptTo = (service: Service, token: string, conversationId: string, to: string): Promise<Answer> =>
  service.post(`/conversations/${conversationId}/email-transcript`, { to, subject: 'What we said' }, token);

/** The statuses of this many calls, one after another. */
async function statuses(count: number, call: (index: number) => Promise<Answer>): Promise<number[]> {
  const all = [];
  for (let index = 0; index < count; index += 1) all.push((await call(index)).status);
  return all;
}
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

t.test('mails to one address', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test('[4.7] an invitation is sent again five times in an hour', async (t) => {
    const { body: agent } = await service.post(
      '/agents/invite',
      { email: 'kim@example.com', name: 'Kim', role: 'agent' },
      owner.token,
    );
    const again = () => service.post(`/agents/${agent.id}/resend-invite`, {}, owner.token);
    t.same(await statuses(4, again), times(4, 200));
    const refused = await again();
    t.match(refused, full('invitation_mails_to_address', 5));
    t.equal(refused.headers.get('retry-after'), String(refused.body.retryAfter));
    t.equal(refused.body.message, 'kim@example.com was sent too many mails in an hour. Try again later.');
    await service.settled();
    const code = /\/join\/(\S+)/.exec(service.newestMail('kim@example.com')?.text ?? '')?.[1];
    t.equal(service.mailCount('kim@example.com'), 5);
    await service.pass(hourMs);
    t.equal((await again()).status, 200);
    t.equal(
      (await service.post('/auth/join', { code, password })).status,
      410,
      'refused ones ended no link, sent ones did',
    );
  });

  t.test('[4.6] tickets and transcripts to addresses that never wrote are limited', async (t) => {
    t.same(await statuses(30, () => ticketTo(service, owner.token, 'Stranger@example.net')), times(30, 201));
    t.match(await ticketTo(service, owner.token, 'stranger@EXAMPLE.net'), full('unasked_mails_to_address', 30));
    const chat = await service.chat(owner);
    t.match(
      await transcriptTo(service, owner.token, chat.id, 'stranger@example.net'),
      full('unasked_mails_to_address', 30),
    );
    t.equal((await transcriptTo(service, owner.token, chat.id, 'other@example.net')).status, 202);
    const { body } = await service.get('/conversations/queue?limit=200&channel=ticket', owner.token);
    t.equal(body.conversations.length, 30, 'a refused one is not a ticket');
  });

  t.test('[4.6] many more answers on a ticket', async (t) => {
    await service.pass(hourMs);
    const { body: ticket } = await ticketTo(service, owner.token, 'lee@example.net');
    const write = (index: number) =>
      service.post(`/conversations/${ticket.id}/messages`, { body: `And ${index}` }, owner.token);
    t.same(await statuses(60, write), times(60, 201));
    t.match(await write(60), full('answer_mails_to_address', 60));
  });
});

t.test('[4.6] only who wrote is answered; whom an import or an agent names is written to unasked', async (t) => {
  const service = await startService(t, { env: { MAX_MAILS_PER_DAY: '40' } });
  const unasked = full('unasked_mails', 4);
  const answer = (owner: { token: string }, id: string, more: object = {}) =>
    service.post(`/conversations/${id}/messages`, { body: 'An answer', ...more }, owner.token);
  const imported = async (owner: { token: string }, count: number, customer: (index: number) => string) => {
    const conversations = Array.from({ length: count }, (_, index) => ({
      externalId: `${customer(0)}${index}`,
      channel: 'ticket',
      subject: 'Old',
      status: 'open',
      customer: { email: customer(index) },
      messages: [1, 2].map((at) => ({
        externalId: `${at}`,
        from: 'customer',
        body: 'Hello',
        createdAt: `2021-03-01T10:0${at}:00Z`,
        messageIdHeader: `<${at}.${customer(index)}>`,
      })),
    }));
    const { body } = await service.post('/conversations/import', { source: 'old', conversations }, owner.token);
    return body.conversations.map(({ conversationId }: any) => conversationId as string);
  };
  const arrived = async (owner: Awaited<ReturnType<typeof service.workspace>>, from: string, also: string[] = []) => {
    const mailbox = await service.mailbox(owner);
    const mail = { subject: 'Hello', from, messageId: `<new.${from}>`, to: [mailbox.address, ...also] };
    await service.deliver(mailbox, mail);
    return (await service.tickets(owner.token)).find(({ subject }: any) => subject === 'Hello').id as string;
  };

  t.test('customers of imported tickets, and of tickets split off them', async (t) => {
    const owner = await service.workspace();
    const [split, ...ids] = await imported(owner, 6, (index) => `old${index}@example.net`);
    const [first] = await service.messages(split ?? '', owner.token);
    const { body } = await service.post(`/conversations/${split}/messages/${first.id}/split`, {}, owner.token);
    t.equal((await answer(owner, body.conversation.id)).status, 201);
    t.same(await statuses(3, (index) => answer(owner, ids[index] ?? '')), times(3, 201));
    t.match(await answer(owner, ids[3] ?? ''), unasked);
    const wrote = await arrived(owner, 'old5@example.net');
    t.same(await statuses(9, () => answer(owner, ids[4] ?? '')), times(9, 201), 'unless they wrote since');
    t.equal((await answer(owner, wrote)).status, 201);
  });

  t.test('people whom an agent adds', async (t) => {
    const owner = await service.workspace();
    const id = await arrived(owner, 'cleo@example.net', ['dora@example.net']);
    t.same(
      await statuses(9, () => answer(owner, id)),
      times(9, 201),
      'the customer, and whom its mail names, are asked',
    );
    const copiedTo = ['dora@example.net', 'a@example.net', 'b@example.net'];
    await service.put(`/conversations/${id}/copied-to`, { copiedTo }, owner.token);
    t.same(await statuses(2, () => answer(owner, id)), times(2, 201));
    t.match(await answer(owner, id), unasked);
    t.equal((await answer(owner, id, { copy: false })).status, 201);
  });
});

t.test(
  'MAX_MAILS_PER_DAY: of a workspace, a tenth of them unsolicited; other workspaces are not affected, and a restart forgets nothing',
  async (t) => {
    const dataDir = join(tempFolder(t), 'data');
    const env = { MAX_MAILS_PER_DAY: '40' };
    const lines: [object, string][] = [];
    const log: Log = {
      debug() {},
      info() {},
      warn: (about: object, message: string) => void lines.push([about, message]),
      error() {},
    };
    let service = await startService(t, { dataDir, env, log });
    const [owner, other] = [await service.workspace(), await service.workspace()];
    const mailbox = await service.mailbox(owner);

    t.same(await statuses(4, (index) => ticketTo(service, owner.token, `stranger${index}@example.net`)), times(4, 201));
    const refused = await ticketTo(service, owner.token, 'stranger9@example.net');
    t.match(refused, full('unasked_mails', 4));
    t.equal(
      refused.body.message,
      'This workspace has started conversations with 4 addresses in a day, the limit set by the operator of this server.',
    );
    t.match(
      await service.post('/agents/invite', { email: 'kim@example.com', name: 'Kim', role: 'agent' }, owner.token),
      full('unasked_mails', 4),
    );
    t.equal((await service.get('/agents', owner.token)).body.agents.length, 1, 'no one was invited without a mail');
    t.match(
      lines.filter(([, message]) => message === 'a limit was reached'),
      [
        [
          { workspaceId: owner.workspaceId, ceiling: 'unasked_mails', limit: 4, operation: 'ticket.create', times: 1 },
          String,
        ],
      ],
      'and logged at a limited rate',
    );
    t.match((await service.get('//metrics')).body, /^switchboard_ceilings_met_total\{ceiling="unasked_mails"\} 2$/m);

    await service.deliver(mailbox, { subject: 'Hello' });
    const [ticket] = (await service.tickets(owner.token)).filter(({ subject }) => subject === 'Hello');
    const answer = () => service.post(`/conversations/${ticket.id}/messages`, { body: 'Hello' }, owner.token);
    t.same(await statuses(36, answer), times(36, 201), 'callers are answered');
    await service.stop();
    const { clock } = service;
    service = await startService(t, { dataDir, env, clock });
    t.match(await answer(), {
      ...full('mails', 40),
      body: { message: 'This workspace has sent 40 mails in a day, the limit set by the operator of this server.' },
    });
    t.equal((await service.post('/auth/forgot-password', { email: owner.email })).status, 204);
    await service.settled();
    t.match(service.newestMail(owner.email)?.subject, 'Choose a new password', 'an agent gets back in all the same');
    t.equal(
      (await ticketTo(service, other.token, 'stranger@example.net')).status,
      201,
      'another workspace has its own',
    );
    await service.pass(dayMs);
    t.equal((await answer()).status, 201);
    await service.stop();
    service = await startService(t, { dataDir, env: { ...env, RATE_LIMITS: 'off' }, clock });
    t.same(await statuses(50, answer), times(50, 201), 'RATE_LIMITS=off lifts it');
  },
);

t.test(
  '[7] an admin can check a limited number of addresses a day for existing accounts, whatever the answer',
  async (t) => {
    const service = await startService(t);
    const [owner, other] = [await service.workspace(), await service.workspace()];
    const { agentId } = await service.agent(owner);
    const invite = () =>
      service.post('/agents/invite', { email: other.email, name: 'Kim', role: 'agent' }, owner.token);
    const rename = () => service.patch(`/agents/${agentId}`, { email: other.email }, owner.token);
    // The agent's invitation was the first.
    t.same(await statuses(199, (index) => (index % 2 === 0 ? invite() : rename())), times(199, 409));
    for (const ask of [invite, rename]) t.match(await ask(), full('addresses_asked', 200));
    t.equal(
      (await service.patch(`/agents/${agentId}`, { name: 'Kim' }, owner.token)).status,
      200,
      'everything else continues',
    );
    await service.pass(dayMs);
    t.equal((await invite()).status, 409);
  },
);

t.test("a flood of notices of one's own account ends", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { agentId, email } = await service.agent(owner);
  for (let count = 0; count < 60; count += 1)
    await service.patch(`/agents/${agentId}`, { email: count % 2 === 0 ? 'moved@example.com' : email }, owner.token);
  await service.settled();
  t.equal(service.mailCount('moved@example.com'), 50);
});

t.test('a name in a mail is a name: one line, short, and no link', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const name = 'Your account is locked: https://evil.example/pay or pay@evil.example, www.evil.example';
  await service.patch(`/workspaces/${owner.workspaceId}`, { name }, owner.token);
  await service.post(
    '/agents/invite',
    { email: 'kim@example.com', name: 'Kim, see http://evil.example', role: 'agent' },
    owner.token,
  );
  const invitation = await service.mail('kim@example.com');
  for (const text of [invitation.subject, invitation.text.replace(/http:\/\/switchboard\.test\/join\/\S+/, '')])
    t.notMatch(text, /evil\.example|:\/\/|@\S/);
  t.equal(invitation.subject, 'Join Your account is locked: https: evil. example/ pay or pay@ ev…');
  await service.post('/auth/forgot-password', { email: owner.email });
  t.notMatch((await service.mail(owner.email)).text, /evil\.example/);
  const { body: ticket } = await ticketTo(service, owner.token, 'lee@example.net');
  t.equal(ticket.channel, 'ticket');
  t.match(
    (await service.mail('lee@example.net')).from.name,
    /^owner1 \(Your account is locked: https:\/\/evil\.example\/pay or pay at e\)$/,
    'no address beside the address',
  );
});
