import t from 'tap';
import { type EventType, events } from '../../engine/events.ts';
import { type Service, startService } from '../support/service.ts';

interface Scene {
  readonly service: Service;
  readonly owner: Awaited<ReturnType<Service['workspace']>>;
  readonly ann: { readonly token: string; readonly agentId: string };
  readonly chat: Awaited<ReturnType<Service['chat']>>;
  offer(): Promise<void>;
  on(path: string, body?: unknown, token?: string): ReturnType<Service['post']>;
}

/** Areas whose events are tested in the area's own tests, over the same sockets. */
const elsewhere = /^(call|department|draft|goal|import|kb|saved_reply|settings|site|view|workspace)\./;

/** A way to cause each other event of the catalogue. A missing or outdated one fails the first test. */
const ways: Partial<Record<EventType, (scene: Scene) => Promise<unknown>>> = {
  'conversation.created': ({ service, owner }) => service.chat(owner),
  'conversation.updated': ({ on }) => on('status', { status: 'pending' }),
  'conversation.closed': async ({ on, service }) => {
    await on('status', { status: 'solved' });
    await service.pass(86_400);
  },
  'message.created': async ({ on, service, owner }) =>
    on('messages', { body: 'x', attachments: [await service.upload(owner)] }),
  'message.updated': async ({ service, owner }) => {
    await service.post(
      '/tickets',
      { customerEmail: 'kim@example.org', subject: 'A parcel', body: 'It is on its way.' },
      owner.token,
    );
    await service.settled();
  },
  'message.read': ({ on }) => on('read'),
  'note.created': ({ on }) => on('notes', { body: 'x' }),
  'note.updated': async ({ on, service, chat, owner }) => {
    await on('notes', { body: 'x' });
    await service.patch(`/conversations/${chat.id}/notes/working`, { body: 'y' }, owner.token);
  },
  'note.deleted': async ({ on, service, chat, owner }) => {
    await on('notes', { body: 'x' });
    await service.patch(`/conversations/${chat.id}/notes/working`, { body: '' }, owner.token);
  },
  'assignment.pending': ({ offer }) => offer(),
  'assignment.accepted': async ({ offer, on, ann }) => {
    await offer();
    await on('assignment/accept', undefined, ann.token);
  },
  'assignment.declined': async ({ offer, on, ann }) => {
    await offer();
    await on('assignment/decline', undefined, ann.token);
  },
  'assignment.cancelled': async ({ offer, on }) => {
    await offer();
    await on('assignment/cancel');
  },
  'assignment.expired': async ({ offer, service }) => {
    await offer();
    await service.pass(30_000);
  },
  'assignment.given': ({ on, ann, chat }) =>
    on('assign-to-agent', { agentId: ann.agentId, expectedVersion: chat.version, force: true }),
  'message.moved': async ({ service, owner }) => {
    const open = async () =>
      (
        await service.post(
          '/tickets',
          { customerEmail: 'kim@example.org', subject: 'A cup', body: 'It is on its way.' },
          owner.token,
        )
      ).body.id;
    const [one, other] = [await open(), await open()];
    await service.post(`/conversations/${one}/merge`, { into: other }, owner.token);
  },
  'agent.updated': ({ service, ann }) => service.post('/me/status', { status: 'available' }, ann.token),
  'visitor.online': ({ service, owner }) => service.customer(owner.embedId, { name: 'Kim', email: 'kim@example.org' }),
  'visitor.offline': async ({ service, owner }) => {
    const figures = async () => (await fetch(new URL('/metrics', service.url))).text();
    const socketsIn = (text: string) => /^switchboard_visitor_sockets \d+$/m.exec(text)?.[0];
    const before = socketsIn(await figures());
    const { token } = await service.customer(owner.embedId);
    await (await service.visitorSocket(token)).close();
    while (socketsIn(await figures()) !== before);
    await service.pass(10_000);
  },
  'visitor.updated': ({ service, chat }) => service.patch('/widget/visitor', { name: 'Kim' }, chat.customer.token),
  'visitor.page_viewed': ({ service, chat }) =>
    service.post('/widget/page-views', { url: 'https://shop.example/' }, chat.customer.token),
};

t.test('the catalogue of events', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', AUTO_CLOSE_DAYS: '0.001' } });

  t.test('every event of the catalogue has a way to it here, and no other', async (t) => {
    t.strictSame(
      Object.keys(ways).sort(),
      Object.keys(events)
        .filter((type) => !elsewhere.test(type))
        .sort(),
    );
  });

  for (const [type, act] of Object.entries(ways) as [EventType, (scene: Scene) => Promise<unknown>][]) {
    t.test(`[6] ${type} is sent, with the declared data`, async (t) => {
      const owner = await service.workspace();
      const ann = await service.agent(owner);
      const chat = await service.chat(owner);
      const on: Scene['on'] = (path, body, token = owner.token) =>
        service.post(`/conversations/${chat.id}/${path}`, body, token);
      const offer = async () =>
        void (await on('assign-to-agent', { agentId: ann.agentId, expectedVersion: chat.version }));
      const agent = await service.agentSocket(owner.token);
      const customer = await service.visitorSocket(chat.customer.token);
      await act({ service, owner, ann, chat, offer, on });
      // Each frame of both sockets is checked against the AsyncAPI document as it arrives.
      const frame = await agent.next(type);
      t.hasOwnProp(frame.data, events[type].data);
      t.strictSame(
        Object.keys(frame).sort(),
        frame.conversationId === undefined
          ? ['at', 'data', 'seq', 'type']
          : ['at', 'conversationId', 'data', 'seq', 'type'],
      );
      t.equal(frame['at'], new Date(service.clock.now()).toISOString());
      await customer.flushed();
      t.equal(customer.events.includes(type), events[type].visitorToo, 'whether its customer receives it, too');
    });
  }

  t.test("[decisions] an event's data is the record as HTTP answers it", async (t) => {
    const owner = await service.workspace();
    const ann = await service.agent(owner);
    const chat = await service.chat(owner);
    const socket = await service.agentSocket(owner.token);
    const next = async (type: string, field: string) => (await socket.next(type)).data[field];
    const message = (
      await service.post(`/conversations/${chat.id}/messages`, { body: 'https://a.example' }, owner.token)
    ).body;
    t.strictSame(await next('message.created', 'message'), message);
    const { note } = (await service.post(`/conversations/${chat.id}/notes`, { body: 'x' }, owner.token)).body;
    t.strictSame(await next('note.created', 'note'), note);
    const { conversation } = (await service.put(`/conversations/${chat.id}/tags`, { tags: ['x'] }, owner.token)).body;
    t.strictSame(await next('conversation.updated', 'conversation'), conversation);
    const agent = (await service.patch(`/agents/${ann.agentId}`, { name: 'Ann' }, owner.token)).body;
    t.strictSame(await next('agent.updated', 'agent'), agent);
  });

  t.test(
    '[6] seq increases by one from event to event of a workspace, and each workspace counts on its own',
    async (t) => {
      const [one, two] = [await service.workspace(), await service.workspace()];
      const sockets = [
        await service.agentSocket(one.token, { since: 0 }),
        await service.agentSocket(two.token, { since: 0 }),
      ];
      const chats = [await service.chat(one), await service.chat(two)];
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          service.post(`/conversations/${chats[index % 2]?.id}/messages`, { body: 'x' }, [one, two][index % 2]?.token),
        ),
      );
      for (const socket of sockets) {
        await socket.flushed();
        const seqs = socket.numbered.map((frame) => frame.seq);
        t.ok(seqs.length > 20);
        t.strictSame(
          seqs,
          Array.from(seqs, (_, index) => index + 1),
        );
      }
    },
  );
});
