// What the inbox knows, against the real service and without a browser: answers that come late, in another order than the events, or
// never; another tab; a sign-in that ends. What is on the screen is drawn from nothing else.

import { holdAnswers, tellPage, until, visit } from './browser-parts.ts';
import t from 'tap';
import { password, startService } from '../support/service.ts';
import { keepToken } from '../../http/pages/api.ts';
import { conversationOf, peekConversation } from '../../http/pages/inbox/conversations.ts';
import { listOf, pagers } from '../../http/pages/inbox/lists.ts';
import { threadOf } from '../../http/pages/inbox/threads.ts';
import { connection, goLive } from '../../http/pages/live.ts';
import { agents } from '../../http/pages/people.ts';
import { me } from '../../http/pages/session.ts';

t.test('what the inbox knows', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  visit(service.url);
  goLive();
  t.teardown(() => keepToken(null));
  const signIn = async (token: string): Promise<void> => {
    keepToken(token);
    await until(() => connection.value === 'live' && me.value !== undefined && agents.value.size > 0 && pagers.queue.state.value === 'complete');
  };
  await signIn(owner.token);
  const chat = async (text = 'Hello') => {
    const { id, customer } = await service.chat(owner, text);
    return { id, say: (more: string) => service.post(`/widget/conversations/${id}/messages`, { body: more }, customer.token) };
  };
  const bodies = (id: string): string[] => threadOf(id).messages.value.filter(({ senderType }) => senderType !== 'system').map(({ body }) => body);
  const notes = (id: string): string[] => threadOf(id).notes.value.map(({ body }) => body);
  const read = async (id: string): Promise<void> => {
    threadOf(id);
    await until(() => threadOf(id).older.value !== 'unknown');
  };

  t.test('a note, a message and a mark that are told while an older answer is on its way stay', async (t) => {
    const { id, say } = await chat();
    const gone = (await service.post(`/conversations/${id}/notes`, { body: 'Gone' }, owner.token)).body.note;
    const held = holdAnswers('GET', /\/(?:notes|messages)/, 2);
    threadOf(id);
    await held.arrived();
    await service.post(`/conversations/${id}/notes`, { body: 'Written meanwhile' }, owner.token);
    await service.delete(`/conversations/${id}/notes/${gone.id}`, owner.token);
    await say('Said meanwhile');
    await service.post(`/conversations/${id}/read`, undefined, owner.token);
    await until(() => bodies(id).includes('Said meanwhile') && conversationOf(id)?.agentsReadUpTo != null);
    held.release();
    await until(() => threadOf(id).older.value !== 'unknown');
    t.strictSame(notes(id), ['Written meanwhile']);
    t.strictSame(bodies(id), ['Hello', 'Said meanwhile']);
    t.ok(threadOf(id).messages.value.filter(({ senderType }) => senderType === 'visitor').every(({ readAt }) => readAt !== null), 'read, as it was told');
  });

  t.test('what became of a mail that was not read yet leaves no hole in what was said', async (t) => {
    const { id } = await chat('The first one');
    for (let count = 0; count < 70; count += 1) await service.post(`/conversations/${id}/messages`, { body: `Line ${count}` }, owner.token);
    await read(id);
    const [first] = await service.messages(id, owner.token);
    const before = bodies(id);
    t.notOk(before.includes('The first one'));
    tellPage({ type: 'message.updated', conversationId: id, data: { message: { ...first, deliveryStatus: 'sent' } } });
    t.strictSame(bodies(id), before, 'its page will say it');
  });

  t.test('signed in again as the same agent: nothing is missing', async (t) => {
    const { id } = await chat('Still there?');
    await until(() => listOf('all')?.indexOf(id) !== -1);
    const again = (await service.post('/auth/login', { email: owner.email, password })).body.token;
    t.not(again, owner.token);
    keepToken(again);
    t.equal(me.value, undefined, 'whoever it is, it is asked');
    await signIn(again);
    await until(() => listOf('all')?.indexOf(id) !== -1);
    t.ok(peekConversation(id));
    await signIn(owner.token);
  });
});
