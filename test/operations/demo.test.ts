import { resolve } from 'node:path';
import t from 'tap';
import { Api } from '../../bench/api.ts';
import { describeDemo, fillDemo } from '../../bench/demo.ts';
import { stories } from '../../bench/demo-story.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { startService } from '../support/service.ts';

t.test('[demo] fills a running server with conversations in every state, also repeatedly', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' }, clock: systemClock() });
  const api = new Api({ url: service.url, dataDir: resolve(service.dataDir) });
  const demo = await fillDemo(api);
  const { mara, aylin, tom } = demo.people;

  t.test('each conversation is in the state its story ends in', async (t) => {
    const queue = (await service.get('/conversations/queue?limit=200', mara.token)).body.conversations;
    const closed = (await service.get('/conversations/recently-closed?limit=50', mara.token)).body.conversations;
    const byId = new Map([...queue, ...closed].map((one) => [one.id, one]));
    t.equal(demo.conversationIds.length, stories.length);
    for (const [index, story] of stories.entries()) {
      const conversation = byId.get(demo.conversationIds[index]);
      const opening = String(story.lines[0]).slice(0, 30);
      if (story.ends === 'spam') {
        t.equal(conversation, undefined, `spam is in no list: ${opening}`);
        continue;
      }
      t.match(
        conversation,
        {
          status: story.ends ?? 'open',
          rating: story.rating?.rating ?? null,
          assignedAgentId: story.agent === undefined ? null : demo.people[story.agent].agentId,
        },
        opening,
      );
      t.same(conversation.tags, story.tags ?? []);
      if (story.offeredTo !== undefined)
        t.match(conversation.handshake, { toAgentId: aylin.agentId, note: story.offeredTo.note });
    }
  });

  t.test('messages and notes exist', async (t) => {
    const index = stories.findIndex(({ notes }) => notes !== undefined && notes.length === 2);
    const [id, story] = [demo.conversationIds[index], stories[index]];
    const said = (await service.get(`/conversations/${id}/messages`, mara.token)).body.messages.filter(
      (one: { senderType: string }) => one.senderType !== 'system',
    );
    t.same(
      said.map((one: { body: string }) => one.body),
      story?.lines.flat(),
    );
    const { notes } = (await service.get(`/conversations/${id}/notes`, mara.token)).body;
    t.same(notes.map((one: { body: string }) => one.body).sort(), story?.notes?.map(({ body }) => body).sort());
  });

  t.test('agents, sites, hours and saved replies exist', async (t) => {
    const { agents } = (await service.get('/agents', mara.token)).body;
    t.same(agents.map((one: any) => [one.name, one.role, one.status, one.inviteStatus]).sort(), [
      ['Aylin Kaya', 'agent', 'available', 'joined'],
      ['Eva Brandt', 'agent', 'offline', 'pending'],
      ['Jonas Weber', 'supervisor', 'available', 'joined'],
      ['Mara Lindqvist', 'admin', 'available', 'joined'],
      ['Tom Okafor', 'agent', 'away', 'joined'],
    ]);
    t.equal((await service.get('/sites', mara.token)).body.sites.length, 2);
    t.equal((await service.get('/business-hours', mara.token)).body.businessHours.length, 2);
    t.equal(
      (await service.get('/saved-replies', aylin.token)).body.savedReplies.length,
      5,
      "the workspace's four and her own",
    );
    t.equal((await service.get('/saved-replies', tom.token)).body.savedReplies.length, 4);
    t.match((await service.get('/workspace/settings', mara.token)).body, {
      routing: { mode: 'manual' },
      autoCloseDays: 7,
    });
  });

  t.test('the printed commands work', async (t) => {
    const text = describeDemo(demo, service.url);
    for (const token of [mara.token, aylin.token, demo.customer.token]) t.ok(text.includes(token));
    const paths = [...text.matchAll(/curl -s '?http:\/\/[^/]+\/api\/v1([^' ]+)/g)].map(([, path = '']) => path);
    t.equal(paths.length, 2);
    for (const path of paths) t.equal((await service.get(path, mara.token)).status, 200, path);
    const inbox = await service.agentSocket(aylin.token);
    const { status } = await service.post(
      '/widget/conversations',
      { body: 'Do you have this in blue?' },
      demo.customer.token,
    );
    t.equal(status, 201);
    t.equal((await inbox.next('message.created')).data.message.body, 'Do you have this in blue?');
    await inbox.close();
  });

  t.test('a second one is a separate workspace', async (t) => {
    const second = await fillDemo(api);
    t.not(second.workspaceId, demo.workspaceId);
    t.equal(second.conversationIds.length, stories.length);
    t.equal(
      (await service.get(`/conversations/${demo.conversationIds[0]}/messages`, second.people.mara.token)).status,
      404,
    );
  });
});
