import t from 'tap';
import { startService } from '../support/service.ts';

t.test('a consumer that does not keep up', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  // Escaped for display, such a body is five times as long: 60 KB an event.
  const long = '"'.repeat(10_000);
  const round = 50;
  /** More than the kernels of both sides buffer on any machine: 120 MB. */
  const maxRounds = 40;
  const flood = async (chatId: string, count = round) => {
    for (let left = count; left > 0; left -= 25)
      await Promise.all(
        Array.from({ length: Math.min(25, left) }, () =>
          service.post(`/conversations/${chatId}/messages`, { body: long }, owner.token),
        ),
      );
  };
  const openSockets = async (namespace: 'agent' | 'visitor') =>
    Number(
      new RegExp(`^switchboard_${namespace}_sockets (\\d+)$`, 'm').exec(
        (await service.call('GET', '//metrics')).body,
      )?.[1],
    );
  /** Floods until one socket fewer is open. Returns how many messages that took. */
  const floodUntilOneIsClosed = async (chatId: string, namespace: 'agent' | 'visitor') => {
    const before = await openSockets(namespace);
    for (let rounds = 1; rounds <= maxRounds; rounds += 1) {
      await flood(chatId);
      if ((await openSockets(namespace)) < before) return rounds * round;
    }
    throw new Error('no one was too slow');
  };
  /** The messages of a conversation, oldest first. */
  const messageIds = async (chatId: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await service.get(
        `/conversations/${chatId}/messages?limit=200${cursor && `&cursor=${cursor}`}`,
        owner.token,
      );
      ids.unshift(...page.body.messages.map((message: { id: string }) => message.id));
      cursor = page.body.nextCursor;
    }
    return ids;
  };
  const newestSeq = () => service.running.services.engine.workspace(owner.workspaceId)?.publishedSeq ?? 0;
  const seqs = (socket: { numbered: readonly { seq?: number }[] }) => socket.numbered.map((frame) => frame.seq);

  t.test(
    '[6] past 1 MiB of backlog it is closed with 4408, and with since it has lost nothing and gets nothing twice',
    async (t) => {
      const chat = await service.chat(owner);
      const [slow, quick] = [await service.agentSocket(owner.token), await service.agentSocket(owner.token)];
      const start = newestSeq();
      slow.pause();
      const count = await floodUntilOneIsClosed(chat.id, 'agent');
      await quick.until((frame) => frame.type === 'message.created' && frame.seq === start + count);
      t.equal(seqs(quick).length, count, 'fast readers were not delayed');
      slow.resume();
      t.match(await slow.closed, { code: 4408 });
      const seen = seqs(slow);
      t.ok(seen.length > 0 && seen.length < count, `${seen.length} of ${count} came through`);
      t.strictSame(
        seen,
        Array.from(seen, (_, index) => start + 1 + index),
        'without a gap up to the close',
      );

      const back = await service.agentSocket(owner.token, { since: slow.lastSeq });
      await back.until((frame) => frame.type === 'message.created' && frame.seq === start + count);
      t.strictSame(
        [...seen, ...seqs(back)],
        Array.from({ length: count }, (_, index) => start + 1 + index),
      );
      for (const socket of [quick, back]) await socket.close();
    },
  );

  t.test('[6] a customer that does not keep up is treated alike', async (t) => {
    const chat = await service.chat(owner);
    const slow = await service.visitorSocket(chat.customer.token);
    const before = await messageIds(chat.id);
    slow.pause();
    await floodUntilOneIsClosed(chat.id, 'visitor');
    const last = await service.post(`/conversations/${chat.id}/messages`, { body: 'the last one' }, owner.token);
    slow.resume();
    t.match(await slow.closed, { code: 4408 });
    const back = await service.visitorSocket(chat.customer.token, { since: slow.lastSeq });
    await back.until((frame) => frame.data?.message?.id === last.body.id);
    const received = [...slow.numbered, ...back.numbered].flatMap((frame) =>
      frame.type === 'message.created' ? [frame.data.message.id] : [],
    );
    t.strictSame([...before, ...received], await messageIds(chat.id), 'every message once, in order');
  });

  t.test('events missed by a client that does not read wait in the file, and it is not closed for them', async (t) => {
    const chat = await service.chat(owner);
    const since = newestSeq();
    await flood(chat.id, 250);
    const lazy = await service.agentSocket(owner.token, { since });
    lazy.pause();
    const quick = await service.agentSocket(owner.token);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'live' }, owner.token);
    await quick.until((frame) => frame.data?.message?.body === 'live');
    lazy.resume();
    await lazy.until((frame) => frame.data?.message?.body === 'live');
    t.strictSame(
      seqs(lazy),
      Array.from({ length: 251 }, (_, index) => since + 1 + index),
    );
    for (const socket of [quick, lazy]) await socket.close();
  });

  t.test('[6] unread replies count as well', async (t) => {
    const chat = await service.chat(owner);
    await flood(chat.id, 60);
    const slow = await service.agentSocket(owner.token);
    slow.pause();
    for (let id = 0; id < 64; id += 1)
      slow.send({ type: 'call', id, method: 'message.list', params: { conversationId: chat.id, limit: 200 } });
    const quick = await service.agentSocket(owner.token);
    while ((await openSockets('agent')) > 1) await quick.call('workspace.settings');
    slow.resume();
    t.match(await slow.closed, { code: 4408 });
    t.ok(slow.frames.filter((frame) => frame.type === 'reply').length < 64);
  });
});
