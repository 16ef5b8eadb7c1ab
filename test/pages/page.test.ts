// A page's own state and behaviour, without a service: shortcuts, notices, drafts, uploads, records in any order.

// First, since the pages' modules need a browser's globals when they load.
import './browser-parts.ts';

import { effect } from '@preact/signals';
import t from 'tap';
import { keepCall, liveCalls } from '../../http/pages/calls/live-calls.ts';
import { addCommands, setLetterKeys } from '../../http/pages/commands.ts';
import { filesOf } from '../../http/pages/inbox/composed-files.ts';
import {
  conversationOf,
  knownConversations,
  peekConversation,
  remember,
} from '../../http/pages/inbox/conversations.ts';
import { draftOf, keepDraft } from '../../http/pages/inbox/drafts.ts';
import { listOf } from '../../http/pages/inbox/lists.ts';
import { resolveReply } from '../../http/pages/inbox/saved-replies.ts';
import { holdNotices, notices, notify } from '../../http/pages/notices.ts';
import type { Agent, Call, Conversation } from '../../http/pages/records.ts';
import { setServerTime } from '../../http/pages/server-clock.ts';
import { me } from '../../http/pages/session.ts';
import { startPages } from '../../http/pages/start.ts';
import { dayHeading, now, shortTime, timeInSentence } from '../../http/pages/times.ts';
import { hurry, look, onRequest, page, turns, until, uploadsUnderWay } from './browser-parts.ts';

t.teardown(startPages());

const providers = { mail: 'smtp', carrier: 'twilio', billing: 'local', shop: null, assistant: false } as const;

t.test('[3] a call that ended stays so, whatever answer comes after', async (t) => {
  const call: Call = {
    id: 'c',
    version: 2,
    channel: 'call',
    status: 'open',
    state: 'answered',
    fromE164: null,
    callerName: null,
    toE164: '+12125550001',
    phoneNumberId: 'n',
    departmentId: null,
    assignedAgentId: 'a',
    handshake: null,
    ringingAgentIds: [],
    visitorId: null,
    contactId: null,
    voicemailId: null,
    events: [],
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:01.000Z',
  };
  const held: Call = { ...call, state: 'on_hold', events: [{ eventType: 'on_hold', createdAt: call.updatedAt }] };
  const ended: Call = { ...call, version: 3, state: 'ended', updatedAt: '2026-11-20T12:00:02.000Z' };
  keepCall(call);
  keepCall(held);
  keepCall(call);
  t.equal(liveCalls.value.get('c')?.state, 'on_hold');
  keepCall(ended);
  for (const late of [call, held]) keepCall(late);
  t.notOk(liveCalls.value.has('c'));
});

t.test('an upload continues while another conversation is open', async (t) => {
  onRequest(() =>
    Promise.resolve(
      Response.json({
        uploadUrl: 'http://127.0.0.1/storage/put',
        publicUrl: 'http://127.0.0.1/storage/cup.png',
        key: 'k',
      }),
    ),
  );
  t.teardown(() => onRequest(undefined));
  const files = filesOf('one');
  files.add([new File(['x'.repeat(10)], 'cup.png', { type: 'image/png' })]);
  await until(() => uploadsUnderWay.length === 1);
  filesOf('two');
  t.equal(filesOf('one'), files);
  const [request] = uploadsUnderWay.splice(0);
  request?.upload.onprogress?.({ loaded: 5, total: 10 });
  t.match(filesOf('one').all.value, [{ name: 'cup.png', progress: 0.5 }]);
  Object.assign(request ?? {}, { status: 200 });
  request?.onload?.();
  await until(() => !filesOf('one').isBusy);
  t.match(filesOf('one').arrived, [{ name: 'cup.png', size: 10 }]);
  filesOf('one').clear();
  filesOf('two');
  t.strictSame(filesOf('one').all.value, []);
});

t.test("a draft is only its author's", async (t) => {
  const draft = { body: 'Dear', mode: 'message' as const, attachments: [] };
  const beIn = (id: string): void => {
    const agent: Agent = {
      id,
      email: `${id}@example.com`,
      name: id,
      role: 'agent',
      status: 'away',
      publicName: null,
      statusSource: 'chosen',
      isOnline: false,
      channels: ['chats'],
      groups: [],
      groupIds: [],
      avatarUrl: null,
      hasPassword: true,
      inviteStatus: 'joined',
      canTransfer: false,
      createdAt: '2026-11-20T12:00:00.000Z',
    };
    me.value = {
      agent,
      workspace: { id: 'w', name: 'Shop', timezone: 'UTC', locale: 'en' },
      permissions: [],
      providers,
    };
  };
  t.teardown(() => (me.value = undefined));
  beIn('ann');
  keepDraft('c', draft);
  t.strictSame(draftOf('c'), draft);
  beIn('bob');
  t.equal(draftOf('c'), undefined);
  beIn('ann');
  t.strictSame(draftOf('c'), draft);
  keepDraft('c', { ...draft, body: '' });
  t.equal(draftOf('c'), undefined);
});

t.test('[4.17] placeholders are filled in; unknown ones stay, also names that every object has', async (t) => {
  const scene = {
    visitor: { name: 'Kim Lee', email: 'kim@example.org' },
    agentName: 'Ann',
    workspaceName: 'Shop',
    subject: null,
  };
  t.equal(
    resolveReply(
      'Hello {{visitor.firstName}} {{ visitor.name }} of {{visitor.email}}, {{agent.name}} of {{workspace.name}}',
      scene,
    ),
    'Hello Kim Kim Lee of kim@example.org, Ann of Shop',
  );
  t.equal(resolveReply('{{visitor.name}}, {{visitor.firstName}}!', { ...scene, visitor: undefined }), 'there, there!');
  for (const name of [
    'conversation.subject',
    'visitor.phone',
    'constructor',
    'toString',
    'hasOwnProperty',
    '__proto__',
  ])
    t.equal(resolveReply(`a {{${name}}} b`, scene), `a {{${name}}} b`);
});

t.test("letters are shortcuts until turned off; the system's own are not", async (t) => {
  const done: string[] = [];
  t.teardown(
    addCommands([
      { id: 'one', title: 'One', group: 'G', keys: ['e', 'g i'], run: () => done.push('letter') },
      { id: 'two', title: 'Two', group: 'G', keys: ['mod+k'], whileTyping: true, run: () => done.push('mod') },
    ]),
  );
  const press = (key: string, held: { ctrlKey?: boolean; metaKey?: boolean } = {}) =>
    page.dispatchEvent(
      Object.assign(new Event('keydown', { cancelable: true }), {
        key,
        code: '',
        ctrlKey: false,
        metaKey: false,
        altKey: false,
        shiftKey: false,
        isComposing: false,
        repeat: false,
        ...held,
      }),
    );
  press('e');
  press('e', { metaKey: true });
  press('g');
  press('i');
  press('k', { ctrlKey: true });
  t.strictSame(done.splice(0), ['letter', 'letter', 'mod']);
  setLetterKeys(false);
  for (const key of ['e', 'g', 'i']) press(key);
  press('k', { ctrlKey: true });
  t.strictSame(done.splice(0), ['mod']);
  setLetterKeys(true);
  press('e');
  t.strictSame(done, ['letter']);
});

t.test('a notice stays until there was time to read it', async (t) => {
  t.teardown(() => look(true));
  look(false);
  hurry(6000);
  notify({ kind: 'news', text: 'Bob has it now.' });
  await turns(20);
  t.equal(notices.value.length, 1, 'the page is not visible');
  holdNotices(true);
  look(true);
  await turns(20);
  t.equal(notices.value.length, 1, 'the pointer is on it');
  holdNotices(false);
  await until(() => notices.value.length === 0);
});

t.test("relative times use the service's clock, as soon as it is known", (t) => {
  const hourMs = 3600_000;
  const serviceMs = Date.now() + 26 * hourMs;
  const at = new Date(serviceMs - 5 * 60_000).toISOString();
  t.equal(shortTime(at), 'now', 'a browser that is a day behind knows no better');
  let told = 0;
  const stop = now.subscribe(() => void (told += 1));
  t.teardown(() => {
    stop();
    setServerTime(new Date().toISOString());
  });
  setServerTime(new Date(serviceMs).toISOString());
  t.equal(shortTime(at), '5 min');
  t.equal(timeInSentence(at), '5 min ago');
  t.equal(dayHeading(new Date(serviceMs).toISOString()), 'Today');
  t.equal(told, 2, 'everything that shows it is updated');
  setServerTime(new Date(Date.now() + 26 * hourMs + 50).toISOString());
  t.equal(told, 2, 'the way of an answer to here is no other clock');
  t.end();
});

t.test('conversations do not accumulate while no list shows them; shown ones stay', async (t) => {
  const agent: Agent = {
    id: 'a',
    email: 'a@shop.example',
    name: 'Ann',
    role: 'admin',
    status: 'available',
    publicName: null,
    statusSource: 'chosen',
    isOnline: true,
    channels: ['chats', 'tickets', 'calls'],
    groups: [],
    groupIds: [],
    avatarUrl: null,
    hasPassword: true,
    inviteStatus: 'joined',
    canTransfer: true,
    createdAt: '2026-11-20T12:00:00.000Z',
  };
  me.value = {
    agent,
    workspace: { id: 'w', name: 'Shop', timezone: 'UTC', locale: 'en' },
    permissions: [],
    providers,
  };
  t.teardown(() => (me.value = undefined));
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9) + second * 1000).toISOString();
  const record = (id: string, second: number, fields: Partial<Conversation>): Conversation => ({
    id,
    version: 1,
    channel: 'chat',
    status: 'open',
    subject: null,
    ticketNumber: null,
    siteId: null,
    visitorId: null,
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
    createdAt: at(second),
    updatedAt: at(second),
    ...fields,
  });
  const solve = (from: number, end: number): void => {
    for (let index = from; index < end; index += 1)
      remember(record(`over ${index}`, index, { status: 'solved', solvedAt: at(index) }));
  };
  const [all, solved] = [listOf('all'), listOf('solved')];
  if (all === undefined || solved === undefined) throw new Error('a list is missing');
  remember(record('early', 0, {}));
  t.equal(all.rows.length, 0, 'a list that was not read holds nothing');
  // The wait for a socket that does not come.
  hurry(600);
  onRequest(async () => Response.json({ conversations: [], nextCursor: null }));
  t.teardown(() => onRequest(undefined));
  const read = async (list: typeof all): Promise<void> => {
    void list.pager.next();
    await until(() => list.pager.state.value === 'complete');
  };
  await read(all);
  await read(solved);
  for (let index = 1; index < 1500; index += 1) remember(record(`open ${index}`, index, {}));
  solve(0, 500);
  await turns(1);
  t.strictSame([all.rows.length, solved.rows.length], [1500, 500], 'as many are kept');
  const closeShown = effect(() => void conversationOf('over 3'));
  keepDraft('over 4', { body: 'Half a sen', mode: 'message', attachments: [] });
  solve(500, 501);
  await turns(1);
  t.strictSame(
    [...knownConversations()].map(({ id }) => id),
    ['over 3'],
    'one more and all are dropped, except shown ones',
  );
  t.strictSame([all.rows.length, solved.rows.length], [0, 0]);
  t.equal(solved.pager.state.value, 'waiting', 'the list is loaded again when it is shown');
  t.equal(draftOf('over 4')?.body, 'Half a sen', 'the draft there stays');
  closeShown();

  const closeList = effect(() => void solved.rows);
  await read(solved);
  solve(501, 3200);
  for (let index = 0; index < 2500; index += 1) remember(record(`open ${index}`, index, {}));
  await turns(1);
  t.equal(solved.rows.length, 2700, 'a list that is looked through loses nothing');
  t.ok([...knownConversations()].length <= 2700 + 2000 + 1);
  closeList();
  await turns(1);
  t.equal(solved.rows.length, 0);
  t.ok([...knownConversations()].length <= 2000);
  remember(record('over 700', 2000, { version: 2 }));
  t.equal(peekConversation('over 700')?.status, 'open', 'one that comes again is known again');
});
