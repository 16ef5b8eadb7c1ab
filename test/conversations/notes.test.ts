import t from 'tap';
import { startService } from '../support/service.ts';

t.test('notes', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const bob = await service.agent(owner, { role: 'supervisor', name: 'Bob' });
  await service.patch(`/agents/${ann.agentId}`, { avatarUrl: 'https://a.example/ann.png' }, owner.token);
  const notes = async (id: string, token = owner.token) =>
    (await service.get(`/conversations/${id}/notes`, token)).body.notes;
  const add = (id: string, body: unknown, token = ann.token) => service.post(`/conversations/${id}/notes`, body, token);
  const working = (id: string, body: unknown, token = ann.token) =>
    service.patch(`/conversations/${id}/notes/working`, body, token);

  t.test('[4.5] a note answers 201 with {note}, and every one of them is listed, newest first', async (t) => {
    const chat = await service.chat(owner);
    const at = new Date(service.clock.now()).toISOString();
    const { status, body } = await add(chat.id, { body: 'First <b>look</b>' });
    t.equal(status, 201);
    t.strictSame(
      { ...body.note, id: 'id' },
      {
        id: 'id',
        conversationId: chat.id,
        visitorId: chat.customer.visitorId,
        authorAgentId: ann.agentId,
        authorName: 'Ann',
        authorAvatarUrl: 'https://a.example/ann.png',
        body: 'First <b>look</b>',
        createdAt: at,
        updatedAt: at,
      },
    );
    for (let count = 2; count <= 60; count += 1)
      await add(chat.id, { body: `Note ${count}` }, count % 2 === 0 ? bob.token : ann.token);
    const listed = await notes(chat.id);
    t.equal(listed.length, 60, 'not paginated');
    t.strictSame(
      [listed[0].body, listed[1].body, listed[59].body],
      ['Note 60', 'Note 59', 'First <b>look</b>'],
      'also those of one moment',
    );
    t.equal(listed[0].authorAvatarUrl, null);
    t.strictSame(
      Object.keys(await service.get(`/conversations/${chat.id}/notes`, owner.token).then((one) => one.body)),
      ['notes'],
    );
  });

  t.test('[8] a body of 1 to 10000 characters, and not only white space', async (t) => {
    const { id } = await service.chat(owner);
    for (const [body, status] of [
      ['x', 201],
      ['x'.repeat(10_000), 201],
      ['🎈'.repeat(10_000), 201],
      ['x'.repeat(10_001), 400],
      ['', 400],
      [' \n ', 400],
      [undefined, 400],
      [7, 400],
    ] as const) {
      const answer = await add(id, { body });
      t.equal(answer.status, status, String(body).slice(0, 20));
      if (status === 400) t.match(answer.body, { error: 'invalid_body', detail: { fieldErrors: { body: [String] } } });
    }
    t.match(await working(id, { body: 'x'.repeat(10_001) }), { status: 400, body: { error: 'invalid_body' } });
    t.match(await working(id, { body: 7 }), { status: 400, body: { error: 'invalid_body' } });
  });

  t.test("[4.5] a note with its author's id is stored once, however often it is sent", async (t) => {
    const [chat, other] = [await service.chat(owner), await service.chat(owner)];
    const noteId = '019aa000-0000-4000-8000-0000000000aa';
    const agent = await service.agentSocket(owner.token);
    const answers = await Promise.all([1, 2, 3].map(() => add(chat.id, { noteId, body: 'Once' })));
    const [first] = answers;
    t.match(first, { status: 201, body: { note: { id: noteId, body: 'Once' } } });
    for (const answer of answers) t.strictSame(answer.body, first?.body);
    t.strictSame((await add(chat.id, { noteId, body: 'Twice' })).body, first?.body, 'the first text stays');
    t.match(
      await add(other.id, { noteId, body: 'Once' }),
      { status: 409, body: { error: 'conflict' } },
      'not in another conversation',
    );
    t.match(
      await add(chat.id, { noteId, body: 'Once' }, bob.token),
      { status: 409, body: { error: 'conflict' } },
      "not another agent's",
    );
    for (const id of ['x', '019aa000-0000-1000-8000-0000000000aa', 7])
      t.match(await add(chat.id, { noteId: id, body: 'Once' }), {
        status: 400,
        body: { detail: { fieldErrors: { noteId: [String] } } },
      });
    t.equal((await notes(chat.id)).length, 1);
    await add(chat.id, { body: 'Another' });
    t.strictSame(
      [(await agent.next('note.created')).data.note.id, (await agent.next('note.created')).data.note.body],
      [noteId, 'Another'],
      'told once',
    );
  });

  t.test('[2] notes are no messages: in no list, page, event or session of the customer', async (t) => {
    const chat = await service.chat(owner);
    const customer = await service.visitorSocket(chat.customer.token);
    const agent = await service.agentSocket(owner.token);
    const { body } = await add(chat.id, { body: 'SECRET' });
    await working(chat.id, { body: 'SECRET too' });
    await service.delete(`/conversations/${chat.id}/notes/${body.note.id}`, ann.token);
    t.strictSame(
      [(await agent.next('note.created')).data.note, (await agent.next('note.updated')).data.note.body],
      [body.note, 'SECRET too'],
    );
    t.equal((await agent.next('note.deleted')).data.note.id, body.note.id);
    t.notOk(JSON.stringify(await customer.flushed()).includes('SECRET'));
    await add(chat.id, { body: 'SECRET' });
    t.notOk(
      JSON.stringify((await service.get(`/conversations/${chat.id}/messages`, owner.token)).body).includes('SECRET'),
    );
    t.notOk(
      JSON.stringify(
        (await service.get(`/widget/conversations/${chat.id}/messages`, chat.customer.token)).body,
      ).includes('SECRET'),
    );
    t.equal((await service.conversation(chat.id, owner.token)).preview, 'Hello, is anybody there?');
  });

  t.test('[4.5] notes are accepted in every status, and do not change the conversation', async (t) => {
    const { id } = await service.chat(owner);
    for (const status of ['pending', 'solved', 'open', 'spam']) {
      await service.post(`/conversations/${id}/status`, { status }, owner.token);
      const before = (await service.put(`/conversations/${id}/tags`, { tags: [] }, owner.token)).body.conversation;
      t.equal((await add(id, { body: status })).status, 201, status);
      t.strictSame(
        (await service.put(`/conversations/${id}/tags`, { tags: [] }, owner.token)).body.conversation,
        before,
        status,
      );
    }
  });

  t.test("[4.5] the working note: updates the caller's latest, makes one, or deletes it", async (t) => {
    const { id } = await service.chat(owner);
    const made = await working(id, { body: 'a' });
    t.match(made, { status: 200, body: { note: { body: 'a', authorAgentId: ann.agentId } } });
    await service.pass(1000);
    const { note } = (await working(id, { body: 'b' })).body;
    t.match(note, {
      id: made.body.note.id,
      body: 'b',
      createdAt: made.body.note.createdAt,
      updatedAt: new Date(service.clock.now()).toISOString(),
    });
    await service.pass(1000);
    const second = (await add(id, { body: 'c' })).body.note;
    t.equal((await working(id, { body: 'd' })).body.note.id, second.id, 'the latest of two');
    const theirs = (await add(id, { body: 'theirs' }, bob.token)).body.note;
    t.equal((await working(id, { body: 'e' })).body.note.id, second.id, "never another's");
    t.strictSame((await working(id, { body: '' })).body, { note: null });
    t.strictSame(
      (await notes(id)).map((one: any) => one.id),
      [theirs.id, note.id],
    );
    t.strictSame((await working(id, {})).body, { note: null }, 'omitted deletes as well');
    t.strictSame(
      (await notes(id)).map((one: any) => one.id),
      [theirs.id],
    );
    t.strictSame((await working(id, { body: ' \n' })).body, { note: null }, 'nothing left to delete: nothing happens');
    t.strictSame(
      (await notes(id)).map((one: any) => one.id),
      [theirs.id],
    );
    t.strictSame((await working(id, undefined, bob.token)).body, { note: null }, 'and no body at all');
    t.strictSame(await notes(id), []);
  });

  t.test('[4.5] a note is deleted for good by its author or an admin', async (t) => {
    const chat = await service.chat(owner);
    const other = await service.chat(owner);
    const make = async () => (await add(chat.id, { body: 'x' })).body.note.id;
    const remove = (noteId: string, token: string, id = chat.id) =>
      service.delete(`/conversations/${id}/notes/${noteId}`, token);
    const note = await make();
    t.match(
      await remove(note, bob.token),
      { status: 403, body: { error: 'forbidden' } },
      'not by a supervisor who is not the author',
    );
    t.match(
      await remove(note, ann.token, other.id),
      { status: 404, body: { error: 'not_found' } },
      'not through another conversation',
    );
    t.equal((await notes(chat.id)).length, 1);
    t.match(await remove(note, ann.token), { status: 204, body: null });
    t.match(await remove(note, ann.token), { status: 404, body: { error: 'not_found' } }, 'it is gone');
    t.equal((await remove(await make(), owner.token)).status, 204, 'by an admin');
    t.match(await remove('x', owner.token), { status: 404 });
    t.strictSame(await notes(chat.id), []);
  });

  t.test("a note keeps its author's name after the author left", async (t) => {
    const leaver = await service.agent(owner, { name: 'Lea' });
    const { id } = await service.chat(owner);
    await add(id, { body: 'x' }, leaver.token);
    await service.delete(`/agents/${leaver.agentId}`, owner.token);
    t.match((await notes(id))[0], { authorName: 'Lea', authorAgentId: leaver.agentId });
  });
});
