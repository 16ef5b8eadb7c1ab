import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { signatureOf } from '../../http/signed/signatures.ts';
import {
  claimLine,
  customerNumber,
  type Delivery,
  deliver,
  newCallId,
  ringLine,
  timelineOf,
} from '../support/calls.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { randomFrom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';

t.test('events of a carrier', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const line = await claimLine(service, owner);
  const recording = await claimLine(service, owner, { recordCalls: true });
  const mute = await claimLine(service, owner);
  await service.patch(`/phone-numbers/${mute.id}`, { voicemailEnabled: false }, owner.token);
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const countCalls = async () => (await service.get('/calls?limit=200', owner.token)).body.calls.length;

  t.test('[4.20] the signature is checked first: missing, wrong, or for an unknown number, 401', async (t) => {
    const before = await countCalls();
    const ringing = { type: 'ringing', callId: newCallId() };
    const stranger = await claimLine(service, await service.workspace());
    const invalid = { status: 401, body: { error: 'invalid_signature' } };
    t.match(await deliver(service, line, ringing, { 'X-Signature': undefined }), invalid);
    t.match(await deliver(service, line, ringing, { 'X-Signature': '' }), invalid);
    t.match(await deliver(service, line, ringing, { 'X-Signature': 'sha256=00' }), invalid);
    t.match(
      await deliver(service, { ...line, secret: stranger.secret }, ringing),
      invalid,
      "another workspace's secret",
    );
    t.match(await deliver(service, { ...line, e164: '+12125559999' }, ringing), invalid, 'an unknown number');
    t.match(await deliver(service, line, { ...ringing, to: stranger.e164 }), invalid, "another workspace's number");
    t.match(
      await deliver(service, line, { ...ringing, callId: '' }, { 'X-Signature': 'sha256=00' }),
      invalid,
      'before the errors of the body',
    );
    t.equal(await countCalls(), before, 'and nothing happened');
  });

  t.test('[4.20] then JSON, then its content: 400 invalid_body', async (t) => {
    const before = await countCalls();
    t.match(
      await service.call('POST', '/carrier/events', { body: 'ring ring', headers: { 'X-Signature': 'sha256=00' } }),
      { status: 400, body: { error: 'invalid_body' } },
    );
    t.match(await service.call('POST', '/carrier/events', { body: '', headers: { 'X-Signature': 'sha256=00' } }), {
      status: 400,
      body: { error: 'invalid_body' },
    });
    for (const body of ['null', '7', '[]', '"text"'])
      t.match(
        await service.call('POST', '/carrier/events', { body, headers: { 'X-Signature': 'sha256=00' } }),
        { status: 401 },
        body,
      );
    const rows: [Partial<Record<keyof Delivery, unknown>>, string][] = [
      [{ type: 'answered' }, 'type'],
      [{ callId: '' }, 'callId'],
      [{ callId: 'x'.repeat(201) }, 'callId'],
      [{ from: '4155550123' }, 'from'],
      [{ from: '+1415555' }, 'from'],
      [{ from: '+999123456789' }, 'from'],
      [{ from: undefined }, 'from'],
      [{ type: 'ended', durationMs: -1 }, 'durationMs'],
      [{ type: 'ended', durationMs: 1.5 }, 'durationMs'],
      [{ type: 'recording_ready' }, 'recordingUrl'],
      [{ type: 'recording_ready', recordingUrl: 'javascript:alert(1)' }, 'recordingUrl'],
      [{ type: 'voicemail_left', transcript: 'x'.repeat(10_001) }, 'transcript'],
    ];
    for (const [wrong, path] of rows) {
      const { status, body } = await deliver(service, line, {
        type: 'ringing',
        callId: newCallId(),
        ...wrong,
      } as Delivery);
      t.match(
        { status, error: body.error },
        { status: 400, error: 'invalid_body' },
        JSON.stringify(wrong).slice(0, 80),
      );
      t.ok(path in body.detail.fieldErrors, `${path} is named`);
    }
    t.equal(await countCalls(), before, 'and nothing happened');
    t.equal((await deliver(service, line, { type: 'ended', callId: 'y'.repeat(200), durationMs: 0 })).status, 200);
    t.equal(
      (await deliver(service, line, { type: 'voicemail_left', callId: newCallId(), transcript: 'x'.repeat(10_000) }))
        .status,
      200,
    );
  });

  t.test('[4.20] carriers need not send our headers; the signed bytes count', async (t) => {
    const { status } = await deliver(
      service,
      line,
      { type: 'ended', callId: newCallId() },
      { Accept: undefined, 'Content-Type': 'text/plain' },
    );
    t.equal(status, 200);
    const body = `{"type":"ended",  "callId":"${newCallId()}","from":"${customerNumber}","to":"${line.e164}"}`;
    t.equal(
      (
        await service.call('POST', '/carrier/events', {
          body,
          headers: { 'X-Signature': signatureOf(Buffer.from(body), line.secret) },
        })
      ).status,
      200,
    );
    t.equal(
      (
        await service.call('POST', '/carrier/events', {
          body: body.replace('  ', ' '),
          headers: { 'X-Signature': signatureOf(Buffer.from(body), line.secret) },
        })
      ).status,
      401,
    );
  });

  t.test('[4.8] recordingUrl only if the number records, whenever it arrives', async (t) => {
    for (const [number, expected] of [
      [recording, 'https://sound.example/r.mp3'],
      [line, undefined],
    ] as const) {
      const { id, callId } = await ringLine(service, number);
      await service.post(`/calls/${id}/answer`, undefined, owner.token);
      await deliver(service, number, { type: 'ended', callId, durationMs: 7000 });
      t.notOk('recordingUrl' in (await read(id)).events.at(-1));
      const socket = await service.agentSocket(owner.token);
      await deliver(service, number, { type: 'recording_ready', callId, recordingUrl: 'https://sound.example/r.mp3' });
      await deliver(service, number, {
        type: 'recording_ready',
        callId,
        recordingUrl: 'https://sound.example/other.mp3',
      });
      const ended = (await read(id)).events.at(-1);
      t.equal(ended.recordingUrl, expected);
      t.equal(ended.duration_ms, 7000);
      await socket.flushed();
      t.equal(
        socket.events.filter((type) => type === 'call.ended').length,
        expected === undefined ? 0 : 1,
        'sent again when there is news',
      );
      await socket.close();
    }
  });

  t.test("[4.8] the carrier's duration counts, also if it arrives after our own hangup", async (t) => {
    const { id, callId } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, owner.token);
    service.clock.advance(5000);
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    t.equal((await read(id)).events.at(-1).duration_ms, 5000);
    await deliver(service, line, { type: 'ended', callId, durationMs: 5210 });
    await deliver(service, line, { type: 'ended', callId, durationMs: 9999 });
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'ended']);
    t.equal((await read(id)).events.at(-1).duration_ms, 5210);
  });

  t.test(
    '[4.8] a voicemail after the call was solved reopens it; on spam it is stored and changes nothing',
    async (t) => {
      for (const [step, body, status] of [
        ['status', { status: 'solved' }, 'open'],
        ['spam', undefined, 'spam'],
      ] as const) {
        const { id, callId } = await ringLine(service, line);
        await deliver(service, line, { type: 'ended', callId });
        await service.post(`/conversations/${id}/${step}`, body, owner.token);
        await deliver(service, line, { type: 'voicemail_left', callId, transcript: 'It is me.' });
        t.equal((await read(id)).status, status);
        t.equal(
          (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1).body,
          'It is me.',
        );
      }
    },
  );

  t.test('[decisions 4.8] twice, late and in any order: the same timeline', async (t) => {
    const facts: Record<string, Partial<Delivery>> = {
      ringing: {},
      ended: { durationMs: 12_345 },
      voicemail_left: { durationMs: 3000, recordingUrl: 'https://sound.example/v.mp3', transcript: 'Call me.' },
      recording_ready: { recordingUrl: 'https://sound.example/r.mp3' },
    };
    const sets = [
      ['ringing', 'ended'],
      ['ringing', 'voicemail_left'],
      ['ringing', 'ended', 'recording_ready'],
      ['ringing', 'voicemail_left', 'ended'],
      ['ringing', 'voicemail_left', 'ended', 'recording_ready'],
    ];
    const play = async (number: typeof line, order: readonly string[]) => {
      const callId = newCallId();
      const ids = new Set<string>();
      for (const type of order) {
        const { status, body } = await deliver(service, number, { type, callId, ...facts[type] });
        if (status !== 200) t.fail(`${type}: ${status}`);
        ids.add(body.conversationId);
        service.clock.advance(1000);
      }
      if (ids.size !== 1) t.fail('one call became several');
      const { status, state, events, voicemailId, assignedAgentId } = await read([...ids][0] ?? '');
      const { messages } = (await service.get(`/conversations/${[...ids][0]}/messages`, owner.token)).body;
      const said = messages
        .filter((message: any) => message.senderType === 'visitor')
        .map((message: any) => message.body);
      return {
        status,
        state,
        assignedAgentId,
        hasVoicemail: voicemailId !== null,
        said,
        events: events.map(({ createdAt: _, voicemailId: id, ...event }: any) => ({
          ...event,
          hasVoicemail: id !== undefined && id === voicemailId,
        })),
      };
    };
    for (const number of [line, recording, mute]) {
      for (const set of sets) {
        const expected = await play(number, set);
        t.same(
          expected.events.map((event: any) => event.eventType),
          [
            'ringing',
            ...(set.includes('voicemail_left') ? ['voicemail_left'] : []),
            ...(set.includes('ended') ? ['ended'] : []),
          ],
        );
        for (let seed = 1; seed <= 8; seed += 1) {
          const random = randomFrom(seed);
          // Each once or twice, in any order.
          const order = random.shuffled(set.flatMap((type) => (random.chance(0.5) ? [type] : [type, type])));
          const played = await play(number, order);
          if (JSON.stringify(played) !== JSON.stringify(expected))
            t.same(played, expected, `seed ${seed}: ${order.join(', ')}`);
        }
      }
    }
  });
});

t.test('events of a number that was released', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { available: true });
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const release = async (id: string) =>
    t.equal((await service.delete(`/phone-numbers/${id}`, owner.token)).status, 200);
  const ignored = async () =>
    (await service.get('/workspace/audit-log', owner.token)).body.entries.filter(
      (entry: any) => entry.action === 'phone_number.event_ignored',
    );

  t.test('[decisions 4.18] a ringing caller goes to voicemail first, and the voicemail is still stored', async (t) => {
    const line = await claimLine(service, owner);
    const { id, callId } = await ringLine(service, line);
    await release(line.id);
    t.match(await read(id), { state: 'voicemail', status: 'open' });
    await service.pass(1000);
    t.same((await deliver(service, line, { type: 'voicemail_left', callId, transcript: 'Too late?' })).body, {
      conversationId: id,
    });
    t.same(timelineOf(await read(id)), ['ringing', 'voicemail_left']);
    t.same(await ignored(), []);
  });

  t.test('[decisions, calls] new events: 200, audited, ignored', async (t) => {
    const line = await claimLine(service, owner);
    const over = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId: over.callId });
    service.clock.advance(1000);
    await release(line.id);
    const before = await read(over.id);
    const callId = newCallId();
    t.match(await deliver(service, line, { type: 'ringing', callId }), { status: 200, body: { conversationId: null } });
    t.match(
      await deliver(service, line, { type: 'voicemail_left', callId: over.callId, transcript: 'x' }),
      { status: 200, body: { conversationId: null } },
      'a call that was over by then',
    );
    t.match(await ignored(), [
      {
        actorAgentId: null,
        targetKind: 'phone_number',
        targetId: line.id,
        context: { type: 'voicemail_left', callId: over.callId },
      },
      { actorAgentId: null, targetKind: 'phone_number', targetId: line.id, context: { type: 'ringing', callId } },
    ]);
    t.same(await read(over.id), before);
    t.equal((await service.get(`/calls?phoneNumberId=${line.id}`, owner.token)).body.calls.length, 1);
    t.match(
      await deliver(service, line, { type: 'ringing', callId: newCallId() }, { 'X-Signature': 'sha256=00' }),
      { status: 401 },
      'signed they must be all the same',
    );
  });

  t.test('[decisions 4.18] a caller on the phone stays connected until it hangs up', async (t) => {
    const line = await claimLine(service, owner);
    const { id, callId } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    await release(line.id);
    t.equal((await read(id)).state, 'answered');
    await service.pass(1000);
    await deliver(service, line, { type: 'ended', callId, durationMs: 1000 });
    t.match(await read(id), { status: 'solved', state: 'ended' });
  });

  t.test('[5] a number that moved to another workspace: each one accepts what its own secret signs', async (t) => {
    const line = await claimLine(service, owner);
    const { id, callId } = await ringLine(service, line);
    await release(line.id);
    const stranger = await service.workspace();
    t.equal(
      (
        await service.post(
          '/phone-numbers',
          { e164: line.e164, displayName: 'Ours now', routingStrategy: 'all_agents' },
          stranger.token,
        )
      ).status,
      201,
    );
    const theirs = {
      ...line,
      secret: (await service.get('/workspace/integrations', stranger.token)).body.carrier.secret,
    };
    const rung = await deliver(service, theirs, { type: 'ringing', callId: newCallId() });
    t.equal((await service.get(`/calls/${rung.body.conversationId}`, stranger.token)).status, 200);
    t.equal((await service.get(`/calls/${rung.body.conversationId}`, owner.token)).status, 404);
    t.same(
      (await deliver(service, line, { type: 'voicemail_left', callId })).body,
      { conversationId: id },
      "the former holder's call has its news",
    );
    t.same((await deliver(service, line, { type: 'ringing', callId: newCallId() })).body, { conversationId: null });
  });
});

t.test('[3] a restart in mid-ring and in mid-handshake', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new ManualClock();
  const first = await startService(t, { dataDir, clock });
  const owner = await first.workspace();
  const ann = await first.agent(owner, { available: true });
  const bob = await first.agent(owner, { available: true });
  const line = await claimLine(first, owner);
  const ringing = await ringLine(first, line);
  clock.advance(5000);
  const late = await ringLine(first, line);
  const handed = await ringLine(first, line);
  const { version } = (await first.post(`/calls/${handed.id}/answer`, undefined, ann.token)).body;
  await first.post(`/calls/${handed.id}/hold`, undefined, ann.token);
  await first.post(`/calls/${handed.id}/transfer`, { agentId: bob.agentId, expectedVersion: version }, ann.token);
  const before = (await first.get(`/calls/${handed.id}`, owner.token)).body;
  await first.stop();

  clock.advance(25_000);
  const second = await startService(t, { dataDir, clock });
  await second.settled();
  const read = async (id: string) => (await second.get(`/calls/${id}`, owner.token)).body;
  t.match(await read(ringing.id), { state: 'voicemail' }, 'whose time ran out meanwhile');
  t.match(await read(late.id), { state: 'ringing' }, 'the other one rings on');
  t.same(await read(handed.id), before, 'the call is unchanged, with its offer');
  t.match(await second.post(`/calls/${handed.id}/answer`, undefined, bob.token), {
    status: 409,
    body: { detail: { reason: 'already_claimed' } },
  });
  await second.pass(4_999);
  t.match(await read(late.id), { state: 'ringing' });
  t.not((await read(handed.id)).handshake, null);
  await second.pass(1);
  t.match(await read(late.id), { state: 'voicemail' }, 'to its own 30 seconds');
  t.match(
    await read(handed.id),
    { handshake: null, assignedAgentId: ann.agentId, state: 'on_hold' },
    'and the offer to its own',
  );
  await deliver(second, line, { type: 'ringing', callId: handed.callId });
  await deliver(second, line, { type: 'ended', callId: handed.callId, durationMs: 1 });
  t.same(
    timelineOf(await read(handed.id)),
    ['ringing', 'answered', 'on_hold', 'ended'],
    'earlier deliveries are known',
  );
});
