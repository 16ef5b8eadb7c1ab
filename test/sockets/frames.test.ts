import t from 'tap';
import { startService } from '../support/service.ts';

t.test('frames that are no calls', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { channels: ['chats'] });
  const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
  const guest = await service.agent(owner, { channels: ['chats'], groupIds: [] });

  t.test(
    '[6] typing goes both ways, to those who may see the conversation and are not typing themselves',
    async (t) => {
      const chat = await service.chat(owner);
      const conversationId = chat.id;
      const owners = [await service.agentSocket(owner.token), await service.agentSocket(owner.token)];
      const sockets = {
        ann: await service.agentSocket(ann.token),
        guest: await service.agentSocket(guest.token),
        customer: await service.visitorSocket(chat.customer.token),
        otherCustomer: await service.visitorSocket((await service.customer(owner.embedId)).token),
      };
      const typing = async () => {
        const told: string[] = [];
        for (const [who, socket] of [
          ...Object.entries(sockets),
          ['owner', owners[0]],
          ['owner again', owners[1]],
        ] as const) {
          await socket?.flushed();
          if (socket?.frames.some((frame) => frame.type === 'typing')) told.push(who);
          if (socket !== undefined) socket.frames.length = 0;
        }
        return told;
      };
      owners[0]?.send({ type: 'typing', conversationId });
      t.strictSame(await sockets.customer.next('typing'), {
        type: 'typing',
        at: new Date(service.clock.now()).toISOString(),
        conversationId,
        data: { conversationId, senderType: 'agent', senderId: owner.agentId },
      });
      t.strictSame(await typing(), ['ann', 'guest', 'customer'], 'not to another tab of the same person');
      sockets.customer.send({ type: 'typing', conversationId });
      t.match(await sockets.ann.until((frame) => frame.type === 'typing'), {
        data: { senderType: 'visitor', senderId: chat.customer.visitorId },
      });
      t.strictSame(await typing(), ['ann', 'guest', 'owner', 'owner again']);

      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
      await typing();
      sockets.customer.send({ type: 'typing', conversationId });
      await sockets.customer.flushed();
      t.strictSame(await typing(), ['owner', 'owner again'], 'by department');
      for (const [socket, id] of [
        [sockets.guest, conversationId],
        [sockets.otherCustomer, conversationId],
        [owners[0], '019aa000-0000-7000-8000-000000000000'],
        [owners[0], 'x'],
        [owners[0], 7],
        [owners[0], undefined],
      ] as const) {
        socket?.send({ type: 'typing', conversationId: id });
        await socket?.flushed();
        t.strictSame(await typing(), [], `no one receives ${String(id)}`);
      }
    },
  );

  t.test('[decisions] typing is not stored: a resuming client does not receive it', async (t) => {
    const chat = await service.chat(owner);
    const [socket, customer] = [
      await service.agentSocket(owner.token),
      await service.visitorSocket(chat.customer.token),
    ];
    customer.send({ type: 'typing', conversationId: chat.id });
    const frame = await socket.next('typing');
    t.equal(frame.seq, undefined);
    const back = await service.agentSocket(owner.token, { since: 0 });
    await back.until((one) => one.seq === socket.frames[0]?.seq);
    await back.flushed();
    t.notOk(back.frames.some((one) => one.type === 'typing'));
  });

  t.test('[decisions] ping is answered with pong', async (t) => {
    const chat = await service.chat(owner);
    for (const socket of [await service.agentSocket(owner.token), await service.visitorSocket(chat.customer.token)]) {
      socket.send({ type: 'ping' });
      t.strictSame(await socket.next('pong'), { type: 'pong' });
    }
  });

  t.test('[decisions] a malformed frame is reported, and the socket stays', async (t) => {
    const chat = await service.chat(owner);
    for (const socket of [await service.agentSocket(owner.token), await service.visitorSocket(chat.customer.token)]) {
      const wrong = [
        '',
        ' ',
        'x',
        '{',
        '[]',
        '7',
        'null',
        '"ping"',
        '{}',
        '{"type":7}',
        '{"type":"pong"}',
        '{"type":"message.created"}',
        '{"type":"PING"}',
        '\u0000',
        Buffer.from('{"type":"ping"}'),
        Buffer.alloc(0),
        Buffer.from([0xff, 0xfe]),
      ];
      for (const frame of wrong) {
        socket.send(frame);
        t.match(await socket.next('error'), { type: 'error', error: 'invalid_body', message: String }, String(frame));
      }
      await socket.flushed();
      t.notOk(socket.frames.filter((frame) => frame.type === 'pong').length > 1);
    }
  });

  t.test(
    '[decisions] a frame may have at most 64 KiB; a larger one closes with 1009, in both namespaces, signed in or not',
    async (t) => {
      const chat = await service.chat(owner);
      const sized = (bytes: number) => `{"type":"ping","x":"${'x'.repeat(bytes - 22)}"}`;
      const open = [() => service.agentSocket(owner.token), () => service.visitorSocket(chat.customer.token)];
      for (const make of open) {
        const socket = await make();
        t.equal(Buffer.byteLength(sized(64 * 1024)), 64 * 1024);
        socket.send(sized(64 * 1024));
        t.strictSame(await socket.next('pong'), { type: 'pong' });
        socket.send(sized(64 * 1024 + 1));
        t.match(await socket.closed, { code: 1009 });
      }
      const wide = await service.agentSocket(owner.token);
      wide.send(`{"type":"ping","x":"${'é'.repeat(33_000)}"}`);
      t.match(await wide.closed, { code: 1009 }, 'bytes count, not characters');
      for (const [bytes, code] of [
        [300 * 1024, 1009],
        [1024 * 1024, 1009],
        [1024 * 1024 + 1, 1006],
        [20 * 1024 * 1024, 1006],
      ] as const) {
        const socket = await service.agentSocket(owner.token);
        socket.send(sized(bytes));
        t.match(await socket.closed, { code }, `${bytes} bytes`);
        t.notOk(socket.frames.some((frame) => frame.type === 'pong'));
      }
      const stranger = service.socket('agent');
      await stranger.opened();
      stranger.send(sized(64 * 1024 + 1));
      t.match(await stranger.closed, { code: 1009 });
      const binary = await service.agentSocket(owner.token);
      binary.send(Buffer.alloc(64 * 1024 + 1));
      t.match(await binary.closed, { code: 1009 });
      t.equal((await service.get('/workspace/settings', owner.token)).status, 200, 'the service continues');
    },
  );

  t.test('half a character in a frame is the same in the reply and when it is read', async (t) => {
    const chat = await service.chat(owner);
    const socket = await service.agentSocket(owner.token);
    socket.send(
      `{"type":"call","id":1,"method":"message.send","params":{"conversationId":"${chat.id}","body":"a\\ud83dz"}}`,
    );
    const { body } = (await socket.next('reply')) as any;
    t.equal(body.body, 'a\ufffdz');
    t.strictSame((await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.at(-1), body);
  });
});
