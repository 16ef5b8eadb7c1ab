// The lists of the inbox against the real service, without a browser: which of them are shown, how they are read again,
// and answers that come too late, for another agent, or for another list.

// First, since the pages' modules need a browser's globals when they load.
import './browser-parts.ts';

import { effect } from '@preact/signals';
import t from 'tap';
import { keepToken } from '../../http/pages/api.ts';
import { knownConversations, peekConversation } from '../../http/pages/inbox/conversations.ts';
import { countOfList } from '../../http/pages/inbox/counts.ts';
import { customerName, visitorOf } from '../../http/pages/inbox/customers.ts';
import { type List, listOf, shownListOf } from '../../http/pages/inbox/lists.ts';
import { offeredToMe } from '../../http/pages/inbox/panel/standing-offers.ts';
import { endSelecting, isSelecting, maxSelected, selectAll, selectedIn } from '../../http/pages/inbox/selection.ts';
import { startInbox } from '../../http/pages/inbox/start.ts';
import { connection } from '../../http/pages/live.ts';
import { navigate } from '../../http/pages/location.ts';
import { dismiss, notices } from '../../http/pages/notices.ts';
import { me } from '../../http/pages/session.ts';
import { startPages } from '../../http/pages/start.ts';
import { startAll } from '../../http/pages/subscriptions.ts';
import { insertOpenConversations } from '../support/open-conversations.ts';
import { startService, type Teardown } from '../support/service.ts';
import { holdAnswers, hurry, onRequest, tellPage, turns, until, visit } from './browser-parts.ts';

interface Answer {
  readonly conversations: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}
const isQueue = /^\/conversations\/queue/;

t.test("the inbox's lists", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const stranger = await service.workspace();
  for (const ms of [500, 600, 1000]) hurry(ms);
  visit(service.url);
  t.teardown(startAll([startPages, startInbox]));
  t.teardown(() => keepToken(null));
  const signIn = async (token: string): Promise<void> => {
    keepToken(token);
    await until(() => connection.value === 'live' && me.value !== undefined && listOf('all') !== undefined);
  };
  const the = (key: string): List => {
    const list = listOf(key);
    if (list === undefined) throw new Error(`no list ${key}`);
    return list;
  };
  /** As the list on the screen. */
  const show = (t: Teardown, key: string): void => {
    const hide = effect(() => {
      const list = shownListOf(key);
      void list?.rows;
      if (list?.pager.state.value === 'waiting') void list.pager.next();
    });
    t.teardown(hide);
  };
  const isRead = (list: List): boolean => ['more', 'complete'].includes(list.pager.state.peek());
  const many = (count: number): string[] => {
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    if (db === undefined) throw new Error('the workspace is not open');
    const startMs = service.clock.now();
    service.clock.advance(count * 1000);
    return insertOpenConversations(db, { count, startMs, stepMs: 1000, siteId: owner.siteId, clock: service.clock });
  };
  await signIn(owner.token);

  t.test('a list whose number is shown beside it is not a list that is shown', async (t) => {
    const { id } = await service.chat(owner);
    show(t, 'all');
    await the('unassigned').pager.next();
    await until(() => the('unassigned').pager.state.value === 'complete');
    const numbers: (number | undefined)[] = [];
    t.teardown(effect(() => void numbers.push(countOfList('unassigned'))));
    t.equal(numbers.at(-1), 1);
    t.ok(the('all').isShown);
    t.notOk(the('unassigned').isShown);
    const next = await service.chat(owner);
    await until(() => numbers.at(-1) === 2);
    const asked: string[] = [];
    onRequest((request) => {
      asked.push(request.path);
      return request.send();
    });
    tellPage({ type: 'resync' });
    await until(() => the('unassigned').pager.state.value === 'waiting' && isRead(the('all')));
    onRequest(undefined);
    t.equal(asked.filter((path) => path.includes('queue?sort=')).length, 1, 'only what is shown is read again');
    t.ok(the('all').indexOf(id) >= 0 && the('all').indexOf(next.id) >= 0);
  });

  t.test('counts that change while they are asked for are asked for again', async (t) => {
    let asked = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    onRequest(async (request) => {
      if (!request.path.startsWith('/conversations/counts')) return request.send();
      asked += 1;
      const answer = await request.send();
      if (asked === 1) await released;
      return answer;
    });
    t.teardown(() => onRequest(undefined));
    tellPage({ type: 'resync' });
    await until(() => asked === 1);
    tellPage({ type: 'resync' });
    await turns(5);
    t.equal(asked, 1, 'one at a time');
    release();
    await until(() => asked === 2);
  });

  t.test('a page that another agent asked for is not taken', async (t) => {
    const { id } = await service.chat(stranger);
    show(t, 'all');
    await until(() => isRead(the('all')));
    keepToken(stranger.token);
    await until(() => peekConversation(id) !== undefined);
    const held = holdAnswers('GET', isQueue);
    the('all').reset();
    await held.arrived();
    keepToken(owner.token);
    await until(() => me.value?.workspace.id === owner.workspaceId);
    t.equal(peekConversation(id), undefined);
    held.release();
    await until(() => isRead(the('all')) && the('all').length > 0);
    await turns(20);
    t.equal(peekConversation(id), undefined);
    t.notOk([...knownConversations()].some((one) => one.id === id));
  });

  t.test('a name of a contact ends with its contact', async (t) => {
    const address = 'lee@customer.example';
    const customer = await service.customer(owner.embedId, { email: address });
    const { conversation } = (await service.post('/widget/conversations', { body: 'Hi' }, customer.token)).body;
    const { contactId } = await service.conversation(conversation.id, owner.token);
    await service.patch(`/contacts/${contactId}`, { name: 'Lee' }, owner.token);
    const other = (await service.post('/contacts', { email: 'mia@customer.example', name: 'Mia' }, owner.token)).body;
    show(t, 'all');
    the('all').reset();
    const nameNow = (): string => {
      const known = peekConversation(conversation.id);
      return known === undefined ? '' : customerName(known);
    };
    const visitorNow = () => visitorOf(peekConversation(conversation.id)?.visitorId ?? null);
    await until(() => nameNow() === 'Lee' && visitorNow() !== undefined);
    t.equal(nameNow(), 'Lee');
    const into = other.contact?.id ?? other.id;
    t.equal((await service.post(`/contacts/${contactId}/merge`, { into }, owner.token)).status, 200);
    await until(() => peekConversation(conversation.id)?.contactId === into);
    t.equal(nameNow(), address, 'until the list is read again');
    the('all').reset();
    await until(() => nameNow() === 'Mia');
  });

  t.test('a long list is read again as far as it was, and stays meanwhile', async (t) => {
    const ids = many(420);
    show(t, 'all');
    const list = the('all');
    list.reset();
    await until(() => isRead(list));
    for (let page = 0; page < 3; page += 1) await list.pager.next();
    const { length } = list;
    t.equal(length, 350);
    const gone = ids[419 - 300] ?? '';
    t.ok(list.indexOf(gone) >= 0);
    // Every length that the screen could have shown.
    const lengths: number[] = [];
    t.teardown(
      effect(() => {
        void list.rows;
        lengths.push(list.length);
      }),
    );
    onRequest(async (request) => {
      const answer = await request.send();
      if (!isQueue.test(request.path)) return answer;
      const { conversations, nextCursor } = (await answer.json()) as Answer;
      return Response.json({ conversations: conversations.filter(({ id }) => id !== gone), nextCursor });
    });
    await service.post(`/conversations/${gone}/status`, { status: 'solved' }, owner.token);
    await until(() => list.indexOf(gone) < 0);
    tellPage({ type: 'resync' });
    await until(() => isRead(list) && list.length > 350);
    onRequest(undefined);
    t.ok(Math.min(...lengths) >= 349, `${lengths}`);
  });

  t.test('all are selected once they are read, and none after the agent left', async (t) => {
    show(t, 'all');
    const list = the('all');
    const begin = async () => {
      for (const { id } of notices.value) dismiss(id);
      isSelecting.value = true;
      const held = holdAnswers('GET', isQueue);
      list.reset();
      await held.arrived();
      return held;
    };
    t.teardown(endSelecting);
    const first = await begin();
    const all = selectAll(list);
    first.release();
    await all;
    t.equal(selectedIn(list).length, maxSelected);
    t.match(notices.value, [{ text: /^The first 100 are selected/ }]);
    endSelecting();

    const second = await begin();
    const late = selectAll(list);
    endSelecting();
    second.release();
    await late;
    t.notOk(isSelecting.value);
    t.strictSame(selectedIn(list), []);
  });

  t.test('exactly as many as can be selected, of more: it is said', async (t) => {
    show(t, 'all');
    const list = the('all');
    for (const { id } of notices.value) dismiss(id);
    onRequest(async (request) => {
      const answer = await request.send();
      if (!isQueue.test(request.path)) return answer;
      const { conversations, nextCursor } = (await answer.json()) as Answer;
      return Response.json({ conversations: conversations.slice(0, maxSelected / 2), nextCursor });
    });
    t.teardown(() => onRequest(undefined));
    list.reset();
    isSelecting.value = true;
    t.teardown(endSelecting);
    await selectAll(list);
    t.equal(list.length, maxSelected);
    t.equal(selectedIn(list).length, maxSelected);
    t.match(notices.value, [{ kind: 'news', text: /^The first 100 are selected/ }]);
  });

  t.test('a list is looked through for rows that fit five pages at a time', async (t) => {
    const body = { name: 'VIPs', filter: { tag: 'vip' } };
    const key = `view-${(await service.post('/views', body, owner.token)).body.id}`;
    await until(() => listOf(key) !== undefined);
    navigate(`/inbox/${key}?tag=refund`);
    t.teardown(() => navigate('/'));
    let asked = 0;
    onRequest((request) => {
      if (!isQueue.test(request.path)) return request.send();
      asked += 1;
      return Promise.resolve(Response.json({ conversations: [], nextCursor: asked < 40 ? `page ${asked}` : null }));
    });
    t.teardown(() => onRequest(undefined));
    show(t, key);
    const list = shownListOf(key);
    if (list === undefined) throw new Error('it is narrowed');
    await until(() => list.isPaused.value && list.pager.state.value === 'more');
    await turns(20);
    t.equal(asked, 5);
    list.readOn();
    await until(() => asked === 10 && list.isPaused.value);
    await turns(20);
    t.equal(asked, 10);
  });

  t.test('[3 handshake] an offer that comes while the offers are asked for stays; one that is gone goes', async (t) => {
    const ann = await service.agent(owner, { name: 'Ann' });
    const { id, version } = await service.chat(owner);
    const isOffered = (): boolean => offeredToMe.value.some((one) => one.id === id);
    t.teardown(() => onRequest(undefined));
    const held = holdAnswers('GET', /^\/conversations\/counts\?withOffers=true/);
    tellPage({ type: 'resync' });
    await held.arrived();
    const offer = { agentId: owner.agentId, expectedVersion: version };
    t.match(await service.post(`/conversations/${id}/assign-to-agent`, offer, ann.token), { status: 200 });
    await until(isOffered);
    held.release();
    await turns(20);
    t.ok(isOffered());
    // As after a break, in which it ended.
    onRequest(async (request) => {
      const answer = await request.send();
      if (!request.path.startsWith('/conversations/counts?withOffers=true')) return answer;
      return Response.json({ ...((await answer.json()) as object), offers: [] });
    });
    tellPage({ type: 'resync' });
    await until(() => !isOffered());
    t.strictSame(offeredToMe.value, []);
  });
});
