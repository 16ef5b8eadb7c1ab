// The inbox's state against the real service, without a browser: answers that are late, in another order than the
// events, or lost; another tab; a sign-in that ends. The screen is drawn from this state only.

// First, since the pages' modules need a browser's globals when they load.
import './browser-parts.ts';

import { effect } from '@preact/signals';
import t from 'tap';
import { keepToken } from '../../http/pages/api.ts';
import { ApiError } from '../../http/pages/api-error.ts';
import {
  act,
  conversationOf,
  forget,
  loadConversation,
  peekConversation,
  StaleError,
} from '../../http/pages/inbox/conversations.ts';
import { listOf } from '../../http/pages/inbox/lists.ts';
import { isUnread } from '../../http/pages/inbox/merging.ts';
import { outgoing, send } from '../../http/pages/inbox/outgoing.ts';
import { setTags, unconfirmed } from '../../http/pages/inbox/panel/changes.ts';
import { answerOffer } from '../../http/pages/inbox/panel/standing-offers.ts';
import { markRead, see } from '../../http/pages/inbox/reading.ts';
import { haveRepliesFailed, refreshSavedReplies, savedReplies } from '../../http/pages/inbox/saved-replies.ts';
import { startInbox } from '../../http/pages/inbox/start.ts';
import { readNewest, threadOf } from '../../http/pages/inbox/threads.ts';
import { startWatching } from '../../http/pages/inbox/watch.ts';
import { connection, isCutOff } from '../../http/pages/live.ts';
import { dismiss, notices } from '../../http/pages/notices.ts';
import { agentName, agents, departmentName } from '../../http/pages/people.ts';
import { me } from '../../http/pages/session.ts';
import { startPages } from '../../http/pages/start.ts';
import { startAll } from '../../http/pages/subscriptions.ts';
import { password, startService } from '../support/service.ts';
import {
  cutSocket,
  deafenSocket,
  desktop,
  holdAnswers,
  hurry,
  look,
  onRequest,
  page,
  reported,
  storageEvent,
  tellPage,
  turns,
  until,
  visit,
} from './browser-parts.ts';

t.test("the inbox's state", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  // The delays before retries, and the time a connection has to answer.
  for (const ms of [500, 1000, 5000]) hurry(ms);
  visit(service.url);
  let stop = startAll([startPages, startInbox, startWatching]);
  t.teardown(() => stop());
  t.teardown(() => keepToken(null));
  const signIn = async (token: string): Promise<void> => {
    keepToken(token);
    await until(
      () => connection.value === 'live' && me.value !== undefined && agents.value.size > 0 && allState() === 'complete',
    );
  };
  const allState = () => listOf('all')?.pager.state.value;
  // The page shows all that is open.
  t.teardown(
    effect(() => {
      const list = listOf('all');
      void list?.rows;
      if (list?.pager.state.value === 'waiting') void list.pager.next();
    }),
  );
  await signIn(owner.token);
  const chat = async (text = 'Hello') => {
    const { id, customer, version } = await service.chat(owner, text);
    return {
      id,
      version,
      say: (more: string) => service.post(`/widget/conversations/${id}/messages`, { body: more }, customer.token),
    };
  };
  const bodies = (id: string): string[] =>
    threadOf(id)
      .messages.value.filter(({ senderType }) => senderType !== 'system')
      .map(({ body }) => body);
  const notes = (id: string): string[] => threadOf(id).notes.value.map(({ body }) => body);
  const read = async (id: string): Promise<void> => {
    threadOf(id);
    await until(() => threadOf(id).older.value !== 'unknown');
  };

  t.test('a note, a message and a mark that arrive before an older answer stay', async (t) => {
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
    t.ok(
      threadOf(id)
        .messages.value.filter(({ senderType }) => senderType === 'visitor')
        .every(({ readAt }) => readAt !== null),
      'read, by the event',
    );
  });

  t.test('an update of a mail that is not loaded leaves no gap', async (t) => {
    const { id } = await chat('The first one');
    await Promise.all(
      Array.from({ length: 70 }, (_, count) =>
        service.post(`/conversations/${id}/messages`, { body: `Line ${count}` }, owner.token),
      ),
    );
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
    t.equal(me.value, undefined, 'the identity is requested again');
    await signIn(again);
    await until(() => listOf('all')?.indexOf(id) !== -1);
    t.ok(peekConversation(id));
    await signIn(owner.token);
  });

  t.test('events lost for good leave no gap, whatever arrives before the answer', async (t) => {
    const { id, say } = await chat('The first one');
    await read(id);
    const held = holdAnswers('GET', /\/messages/);
    const missed = threadOf(id).messages.value;
    await Promise.all(
      Array.from({ length: 70 }, (_, count) =>
        service.post(`/conversations/${id}/messages`, { body: `Missed ${count}` }, owner.token),
      ),
    );
    await until(() => bodies(id).length === 71);
    // As if none of the events had arrived.
    threadOf(id).messages.value = missed;
    const again = readNewest(threadOf(id));
    await held.arrived();
    await say('Told before the answer');
    await until(() => bodies(id).includes('Told before the answer'));
    held.release();
    await again;
    const there = (await service.messages(id, owner.token)).map(({ body }) => body);
    t.equal(threadOf(id).older.value, 'more', 'the messages between load on scrolling back');
    t.strictSame(bodies(id), there.slice(-bodies(id).length), 'without a gap');
    t.equal(bodies(id).at(-1), 'Told before the answer');
  });

  t.test('a failed reload says so, and is repeated once the connection is back', async (t) => {
    const { id } = await chat();
    await read(id);
    onRequest((request) =>
      /\/messages/.test(request.path)
        ? Promise.resolve(
            Response.json({ statusCode: 503, error: 'service_unavailable', message: 'Later.' }, { status: 503 }),
          )
        : request.send(),
    );
    await readNewest(threadOf(id));
    onRequest(undefined);
    t.match(threadOf(id).failure.value, { status: 503 });
    t.strictSame(bodies(id), ['Hello'], 'the loaded ones stay');
    cutSocket();
    await until(() => isCutOff.value);
    await until(() => threadOf(id).failure.value === undefined && connection.value === 'live');
  });

  t.test("[3] act() applies the service's answer; other agents' changes are reported", async (t) => {
    const { id } = await chat();
    const seen = await loadConversation(id);
    t.match(await act(id, 'status', { status: 'pending' }), { conversation: { id, status: 'pending' } });
    t.equal(peekConversation(id)?.status, 'pending');
    await service.put(`/conversations/${id}/tags`, { tags: ['vip'] }, ann.token);
    await until(() => peekConversation(id)?.tags[0] === 'vip');
    const was = peekConversation(id);
    const error = await act(id, 'assign-to-agent', { agentId: ann.agentId, expectedVersion: seen.version }).catch(
      (refused: unknown) => refused,
    );
    if (!(error instanceof StaleError)) return t.fail(String(error));
    t.strictSame(error.was, was, 'as the reader saw it');
    t.match(error.now, { id, tags: ['vip'], assignedAgentId: null }, 'as it is');
    t.ok(error.now.version > seen.version);
    for (const [path, body, slug] of [
      ['status', { status: 'closed' }, 'invalid_body'],
      ['assignment/accept', {}, 'no_pending_handshake'],
    ] as const) {
      const refused = await act(id, path, body).catch((one: unknown) => one);
      t.ok(refused instanceof ApiError && !(refused instanceof StaleError) && refused.slug === slug, path);
    }
    t.strictSame(peekConversation(id), error.now, 'a refusal changes nothing');
  });

  t.test(
    "tags: shown at once and marked until confirmed; others' changes stay; a refusal is reverted and reported",
    async (t) => {
      const { id } = await chat();
      await loadConversation(id);
      await service.put(`/conversations/${id}/tags`, { tags: ['theirs', 'old'] }, ann.token);
      await until(() => peekConversation(id)?.tags.length === 2);
      const held = holdAnswers('PUT', /\/tags/);
      const saved = setTags({ id }, { from: ['old'], to: ['mine'] });
      t.strictSame(peekConversation(id)?.tags, ['theirs', 'mine']);
      t.ok(unconfirmed.value.has(id));
      await held.arrived();
      held.release();
      await saved;
      t.notOk(unconfirmed.value.has(id));
      t.strictSame((await service.conversation(id, owner.token)).tags, ['theirs', 'mine']);

      onRequest((request) => (request.method === 'PUT' ? Promise.reject(new TypeError('gone')) : request.send()));
      await setTags({ id }, { from: ['mine'], to: [] });
      onRequest(undefined);
      t.strictSame(peekConversation(id)?.tags, ['theirs', 'mine']);
      const notice = notices.value.at(-1);
      t.match(notice, { kind: 'problem', action: { label: 'Try again' } });
      notice?.action?.run();
      await until(() => peekConversation(id)?.tags.length === 1 && !unconfirmed.value.has(id));
      t.strictSame((await service.conversation(id, owner.token)).tags, ['theirs']);
    },
  );

  t.test('messages that arrive while the rest is being marked as read are marked, too', async (t) => {
    const { id, say } = await chat('One');
    await loadConversation(id);
    t.teardown(see(id));
    const held = holdAnswers('POST', /\/read$/);
    const marked = markRead(id);
    await held.arrived();
    await say('Two');
    await until(() => peekConversation(id)?.preview === 'Two');
    void markRead(id);
    held.release();
    await marked;
    t.notOk(isUnread(await loadConversation(id)));
  });

  t.test('a note whose answer is lost, and that another tab sends, is stored once', async (t) => {
    const { id } = await chat();
    await read(id);
    let lost = 0;
    onRequest(async (request) => {
      const answer = await request.send();
      if (request.method !== 'POST' || !request.path.endsWith('/notes') || lost > 1) return answer;
      lost += 1;
      throw new TypeError('gone');
    });
    send({ conversationId: id, kind: 'note', body: 'Once', attachments: [] });
    const [one] = outgoing.value;
    await until(() => outgoing.value.length === 0);
    onRequest(undefined);
    t.equal(lost, 2);
    t.strictSame(notes(id), ['Once']);
    const listed = (await service.get(`/conversations/${id}/notes`, owner.token)).body.notes;
    t.strictSame(
      listed.map((note: { id: string }) => note.id),
      [one?.id],
    );
  });

  t.test('messages sent or discarded by another tab do not wait here', async (t) => {
    const { id } = await chat();
    onRequest((request) => (request.method === 'POST' ? Promise.reject(new TypeError('gone')) : request.send()));
    send({ conversationId: id, kind: 'message', body: 'Sent elsewhere', attachments: [] });
    await until(() => outgoing.value[0]?.isUncertain === true);
    const key = Object.keys(localStorage).find((name) => name.startsWith('switchboard.outgoing.')) ?? '';
    localStorage.removeItem(key);
    storageEvent(key, null);
    t.strictSame(outgoing.value, []);
    onRequest(undefined);
  });

  t.test(
    'a sign-in that ends in the middle: no calls without one, and unsent messages wait for their author',
    async (t) => {
      const { id } = await chat();
      let refused = 0;
      onRequest(async (request) => {
        if (request.method !== 'POST') return request.send();
        refused += 1;
        return Response.json({ statusCode: 401, error: 'unauthorized', message: 'No.' }, { status: 401 });
      });
      send({ conversationId: id, kind: 'message', body: 'In the middle', attachments: [] });
      await until(() => me.value === undefined);
      await turns(20);
      t.equal(refused, 1);
      t.strictSame(outgoing.value, []);
      t.strictSame(
        Object.keys(localStorage).filter((name) => name.startsWith('switchboard.outgoing.')).length,
        1,
        "under its writer's name",
      );
      onRequest(undefined);
      await signIn(ann.token);
      t.strictSame(outgoing.value, [], "nobody else's");
      await signIn(owner.token);
      await until(() => outgoing.value.length === 0 && peekConversation(id)?.preview === 'In the middle');
      t.strictSame(
        (await service.messages(id, owner.token)).map(({ body }) => body),
        ['Hello', 'In the middle'],
      );
    },
  );

  t.test(
    'a connection that died unnoticed is given up when the page becomes visible, and missed events arrive',
    async (t) => {
      const { id, say } = await chat();
      await read(id);
      const said: boolean[] = [];
      t.teardown(effect(() => void said.push(isCutOff.value)));
      deafenSocket();
      await say('Not heard');
      t.strictSame(bodies(id), ['Hello']);
      page.dispatchEvent(new Event('online'));
      await until(() => bodies(id).includes('Not heard'));
      t.equal(connection.value, 'live');
      cutSocket();
      await until(() => isCutOff.value);
      await until(() => connection.value === 'live');
      t.strictSame(
        said,
        [false, true, false, true, false],
        'said from the break until it is back, without a pause between',
      );
    },
  );

  t.test("one listener's failure does not affect the others", async (t) => {
    const { id, say } = await chat();
    await read(id);
    tellPage({ type: 'something.new', seq: Number.MAX_SAFE_INTEGER - 10 });
    t.equal(reported.length, 1);
    reported.length = 0;
    cutSocket();
    await until(() => connection.value === 'waiting');
    await say('After it');
    await until(() => bodies(id).includes('After it'));
  });

  t.test('loading the queue continues where it failed', async (t) => {
    const { id } = await chat('In the queue');
    onRequest((request) =>
      /^\/conversations\/queue\?.*sort=activity/.test(request.path)
        ? Promise.resolve(
            Response.json({ statusCode: 503, error: 'service_unavailable', message: 'Later.' }, { status: 503 }),
          )
        : request.send(),
    );
    keepToken(ann.token);
    await until(() => allState() === 'failed');
    t.equal(listOf('all')?.indexOf(id), -1);
    onRequest(undefined);
    void listOf('all')?.pager.next();
    await until(() => allState() === 'complete');
    t.not(listOf('all')?.indexOf(id), -1);
    await signIn(owner.token);
  });

  t.test('no one is called a former agent before all are loaded; a department created since is found', async (t) => {
    const held = holdAnswers('GET', /^\/departments/);
    keepToken(ann.token);
    await held.arrived();
    t.strictSame([agentName(owner.agentId), departmentName('x')], ['…', '…']);
    held.release();
    await signIn(owner.token);
    t.strictSame([agentName(ann.agentId), agentName('x')], ['Ann', 'A former agent']);
    const { body: made } = await service.post('/departments', { name: 'Made since' }, owner.token);
    departmentName(made.id);
    await until(() => departmentName(made.id) === 'Made since');
    const { body: named } = await service.post(
      '/departments',
      { name: 'With Ann', memberIds: [ann.agentId] },
      owner.token,
    );
    await until(() => departmentName(named.id) === 'With Ann');
    await service.delete(`/departments/${named.id}`, owner.token);
    await service.delete(`/departments/${made.id}`, owner.token);
  });

  t.test(
    "an agent who looks elsewhere is notified of a message, by the customer's name; one using another tab is not, nor of conversations that are not theirs",
    async (t) => {
      t.teardown(() => look(true));
      look(false);
      const kim = await service.customer(owner.embedId, { name: 'Kim' });
      const { id } = (await service.post('/widget/conversations', { body: 'Anybody?' }, kim.token)).body.conversation;
      await until(() => desktop.length > 0);
      t.strictSame(desktop.splice(0), [{ title: 'Kim', body: 'Anybody?' }]);

      const other = new BroadcastChannel('switchboard.looking');
      t.teardown(() => other.close());
      const asked = new Promise<void>((resolve) => {
        other.onmessage = ({ data }) => {
          if (data !== 'who looks?') return;
          other.postMessage('I do');
          resolve();
        };
      });
      await service.post(`/widget/conversations/${id}/messages`, { body: 'Hello?' }, kim.token);
      await asked;
      other.onmessage = null;
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: ann.agentId, expectedVersion: (await service.conversation(id, owner.token)).version, force: true },
        owner.token,
      );
      await service.post(`/widget/conversations/${id}/messages`, { body: 'For Ann' }, kim.token);
      const { id: next } = await chat('Still there?');
      await until(() => desktop.length > 0);
      t.strictSame(
        desktop.splice(0).map(({ body }) => body),
        ['Still there?'],
        `${next} alone`,
      );
    },
  );

  t.test('saved replies that failed to load say so, and load again with the next letter', async (t) => {
    await service.post('/saved-replies', { shortcut: '/hello', title: 'A greeting', body: 'Hello' }, owner.token);
    onRequest(() => Promise.reject(new TypeError('gone')));
    refreshSavedReplies();
    await until(() => haveRepliesFailed.value);
    onRequest(undefined);
    refreshSavedReplies();
    await until(() => savedReplies.value !== undefined);
    t.notOk(haveRepliesFailed.value);
    t.strictSame(
      savedReplies.value?.map(({ shortcut }) => shortcut),
      ['/hello'],
    );
  });

  t.test('[3] an agent assigned a conversation by others is notified; one who takes it is not', async (t) => {
    const bob = await service.agent(owner, { name: 'Bob', role: 'supervisor' });
    const give = async (id: string) =>
      service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: owner.agentId, expectedVersion: (await service.conversation(id, owner.token)).version, force: true },
        bob.token,
      );
    for (const { id } of notices.value) dismiss(id);
    t.teardown(() => look(true));
    const [taken, given, offered] = [await chat(), await chat(), await chat()];
    for (const { id } of [taken, given, offered]) await loadConversation(id);
    await act(taken.id, 'assign-to-agent', {
      agentId: owner.agentId,
      expectedVersion: peekConversation(taken.id)?.version,
      force: true,
    });
    await service.post(
      `/conversations/${offered.id}/assign-to-agent`,
      { agentId: owner.agentId, expectedVersion: offered.version },
      bob.token,
    );
    await until(() => peekConversation(offered.id)?.handshake != null);
    await answerOffer(await loadConversation(offered.id), 'accept');
    await until(() => [taken, offered].every(({ id }) => peekConversation(id)?.assignedAgentId === owner.agentId));
    look(false);
    await give(given.id);
    await until(() => desktop.length > 0);
    t.strictSame(
      desktop.splice(0).map(({ body }) => body),
      ['This conversation is yours now.'],
    );
    t.equal(notices.value.length, 1, 'only the given one');
    t.match(notices.value[0], { kind: 'news', text: /^The conversation with .* is yours now\.$/ });

    // The page knows neither of these: one becomes its agent's, the other was before and only changes.
    const [unknown, changed] = [await chat(), taken];
    await until(() => peekConversation(unknown.id) !== undefined);
    for (const { id } of [unknown, changed]) forget(id);
    await service.put(`/conversations/${changed.id}/tags`, { tags: ['theirs'] }, bob.token);
    await until(() => peekConversation(changed.id) !== undefined);
    await give(unknown.id);
    await until(() => desktop.length > 0);
    await turns(20);
    t.equal(desktop.splice(0).length, 1);
    t.equal(notices.value.length, 2);
    t.match(notices.value[1]?.action, { label: 'Open' });
  });

  t.test('an answer about moved messages that an event overtook is asked for again', async (t) => {
    const { id } = await chat();
    await loadConversation(id);
    const held = holdAnswers('GET', new RegExp(`/conversations/${id}$`));
    tellPage({ type: 'message.moved', conversationId: id, data: {} });
    await held.arrived();
    await service.put(`/conversations/${id}/tags`, { tags: ['since'] }, ann.token);
    await until(() => peekConversation(id)?.tags[0] === 'since');
    const version = peekConversation(id)?.version;
    const seen: (number | undefined)[] = [];
    t.teardown(effect(() => void seen.push(conversationOf(id)?.version)));
    let again = 0;
    held.release();
    onRequest((request) => {
      if (request.method === 'GET' && request.path === `/conversations/${id}`) again += 1;
      return request.send();
    });
    t.teardown(() => onRequest(undefined));
    await until(() => again > 0);
    await turns(20);
    t.equal(peekConversation(id)?.version, version);
    t.ok(
      seen.every((one) => one === version),
      'never an older one',
    );
  });

  t.test('stopped, the pages follow nothing; started again, each part runs once', async (t) => {
    const { id } = await chat('Before');
    await until(() => peekConversation(id) !== undefined);
    stop();
    t.equal(connection.value, 'off');
    const { id: later, say } = await chat('Meanwhile');
    keepToken(ann.token);
    keepToken(owner.token);
    look(false);
    t.teardown(() => look(true));
    await turns(20);
    t.equal(peekConversation(later), undefined);
    t.ok(peekConversation(id), 'nothing reacts to a sign-in');
    t.strictSame(desktop, []);
    stop = startAll([startPages, startInbox, startWatching]);
    await signIn(owner.token);
    t.ok(peekConversation(later), 'it is read');
    look(false);
    await say('After');
    await until(() => peekConversation(later)?.preview === 'After' && desktop.length > 0);
    await turns(20);
    t.strictSame(
      desktop.splice(0).map(({ body }) => body),
      ['After'],
      'one notification',
    );
  });
});
