import t from 'tap';
import { ConfigError, readConfig } from '../../http/process/config.ts';
import { createNumberingPlan } from '../../workers/numbering-plan.ts';
import { CarrierUnavailable } from '../../workers/providers/carrier.ts';
import { twilioCarrier } from '../../workers/providers/carrier-twilio.ts';
import { clientOf, twilioHooks, twilioSignature } from '../../workers/providers/carrier-twilio-hooks.ts';
import { addAgents, timelineOf } from '../support/calls.ts';
import { makeKey } from '../support/keys.ts';
import { startService } from '../support/service.ts';
import { accountSid, authToken, FakeTwilio, problems, sendHook } from '../support/twilio.ts';

const account = `/2010-04-01/Accounts/${accountSid}`;
const caller = '+14155550123';
let calls = 0;
const newSid = () => `CA${String((calls += 1)).padStart(32, '0')}`;

t.test('X-Twilio-Signature', async (t) => {
  t.test("fits Twilio's own examples", async (t) => {
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
    const rows = [
      ['+14158675309', 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
      ['+12349013030', '0/KCTR6DLpKmkAf8muzZqo1nDgQ='],
    ] as const;
    for (const [from, signature] of rows) {
      const form = new URLSearchParams({
        To: '+18005551212',
        Digits: '1234',
        From: from,
        Caller: from,
        CallSid: 'CA1234567890ABCDE',
      });
      t.equal(twilioSignature('12345', url, form), signature, from);
    }
  });

  t.test('counts with the port or without, never for another address, account, body or token', async (t) => {
    const hooks = twilioHooks({ accountSid, authToken, baseUrl: 'https://calls.example' });
    const form = new URLSearchParams({ AccountSid: accountSid, CallSid: 'CA1' });
    const verify = (signedUrl: string, askedUrl: string, options: { body?: string; token?: string } = {}) =>
      hooks.verify({
        url: askedUrl,
        body: Buffer.from(options.body ?? form.toString()),
        signature: twilioSignature(options.token ?? authToken, signedUrl, form),
      }) !== undefined;
    t.ok(verify('https://calls.example/a?b=c', 'https://calls.example/a?b=c'));
    t.ok(verify('https://calls.example:443/a?b=c', 'https://calls.example/a?b=c'));
    t.ok(verify('https://calls.example/a', 'https://calls.example:8443/a'));
    t.ok(verify('https://calls.example:8443/a', 'https://calls.example:8443/a'));
    t.notOk(verify('https://calls.example/a', 'https://calls.example/b'));
    t.notOk(verify('https://calls.example/a?b=c', 'https://calls.example/a?b=d'));
    t.notOk(verify('https://other.example/a', 'https://calls.example/a'));
    t.notOk(verify('https://calls.example/a', 'https://calls.example/a', { body: `${form}&Extra=1` }));
    t.notOk(verify('https://calls.example/a', 'https://calls.example/a', { token: 'another token' }));
    const foreign = new URLSearchParams({ AccountSid: 'AC11111111111111111111111111111111', CallSid: 'CA1' });
    t.equal(
      hooks.verify({
        url: 'https://calls.example/a',
        body: Buffer.from(foreign.toString()),
        signature: twilioSignature(authToken, 'https://calls.example/a', foreign),
      }),
      undefined,
    );
    t.equal(
      hooks.verify({ url: 'https://calls.example/a', body: Buffer.from(form.toString()), signature: undefined }),
      undefined,
    );
  });
});

t.test('[configuration] a bad setting is named', async (t) => {
  const good = { CARRIER_PROVIDER: 'twilio', TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken };
  t.match(readConfig(good).carrier, {
    provider: 'twilio',
    smsFrom: null,
    voiceFrom: null,
    apiUrl: 'https://api.twilio.com',
  });
  t.match(readConfig({ ...good, TWILIO_SMS_FROM: '+14155550199' }).carrier, {
    smsFrom: '+14155550199',
    voiceFrom: '+14155550199',
  });
  t.match(readConfig({ ...good, TWILIO_SMS_FROM: `MG${'0'.repeat(32)}` }).carrier, { voiceFrom: null });
  t.match(readConfig({ ...good, TWILIO_VOICE_FROM: '+14155550198' }).carrier, {
    smsFrom: null,
    voiceFrom: '+14155550198',
  });
  t.match(readConfig({}).carrier, { provider: 'simulated' });
  const rows: [Record<string, string>, string][] = [
    [{ CARRIER_PROVIDER: 'pigeon' }, 'CARRIER_PROVIDER'],
    [{ ...good, TWILIO_ACCOUNT_SID: 'AC1' }, 'TWILIO_ACCOUNT_SID'],
    [{ CARRIER_PROVIDER: 'twilio' }, 'TWILIO_ACCOUNT_SID'],
    [{ ...good, TWILIO_AUTH_TOKEN: 'short' }, 'TWILIO_AUTH_TOKEN'],
    [{ ...good, TWILIO_SMS_FROM: '4155550123' }, 'TWILIO_SMS_FROM'],
    [{ ...good, TWILIO_API_URL: 'api.twilio.com' }, 'TWILIO_API_URL'],
    [{ SECRETS_KEY: 'short' }, 'SECRETS_KEY'],
  ];
  for (const [env, name] of rows) {
    try {
      readConfig(env);
      t.fail(name);
    } catch (error) {
      t.ok(error instanceof ConfigError && error.message.includes(name), name);
      t.notOk(String(error).includes('short') && name === 'TWILIO_AUTH_TOKEN', 'a secret is not repeated');
    }
  }
});

t.test('with Twilio as the carrier', async (t) => {
  const twilio = await FakeTwilio.start(t);
  const service = await startService(t, {
    env: twilio.env({ TWILIO_SMS_FROM: '+14155550199', BASE_URL: 'https://calls.example' }),
  });
  const owner = await service.workspace();
  const [ann, bob] = await addAgents(service.running.services, owner, 2);
  if (ann === undefined || bob === undefined) throw new Error('no agents');
  const profile = (
    await service.post(
      '/voice-profiles',
      { name: 'Warm', greetingText: 'Welcome to Smith & Sons.', voice: 'Polly.Amy' },
      owner.token,
    )
  ).body;
  const claim = (fields: object) =>
    service.post('/phone-numbers', { displayName: 'Support', routingStrategy: 'all_agents', ...fields }, owner.token);
  const line = (await claim({ e164: '+14155550100', recordCalls: true, voiceProfileId: profile.id })).body;
  const ring = (CallSid: string, more: Record<string, string> = {}) =>
    sendHook(service, 'voice', {
      CallSid,
      From: caller,
      To: line.e164,
      CallStatus: 'ringing',
      Direction: 'inbound',
      ...more,
    });
  const callOf = async (index = 0) => (await service.get('/calls', owner.token)).body.calls[index];
  const steered = async () => {
    await service.settled();
    return twilio.take().filter(({ path }) => path.includes('/Calls/'));
  };

  t.test('[4.18] search asks Twilio, with its prices', async (t) => {
    twilio.take();
    const { available } = (await service.post('/phone-numbers/available', { areaCode: '415', limit: 2 }, owner.token))
      .body;
    t.same(
      available,
      [{ e164: '+14155550101', monthlyCost: '1.15', locality: 'San Francisco, CA' }],
      'without the number that is ours already',
    );
    t.match(twilio.take(), [
      {
        method: 'GET',
        path: `${account}/AvailablePhoneNumbers/US/Local.json`,
        query: { AreaCode: '415', VoiceEnabled: 'true', PageSize: '2' },
      },
      { method: 'GET', path: '/v1/PhoneNumbers/Countries/US' },
    ]);
    const rows: [object, string][] = [
      [{ areaCode: '416' }, 'CA/Local'],
      [{ areaCode: '833', kind: 'tollfree' }, 'US/TollFree'],
      [{ kind: 'international' }, 'GB/Local'],
      [{ kind: 'international', areaCode: '44' }, 'GB/Local'],
    ];
    for (const [body, resource] of rows) {
      await service.post('/phone-numbers/available', body, owner.token);
      t.equal(twilio.take()[0]?.path, `${account}/AvailablePhoneNumbers/${resource}.json`, JSON.stringify(body));
    }
    const german = (
      await service.post('/phone-numbers/available', { kind: 'international', areaCode: '49' }, owner.token)
    ).body.available;
    t.match(german[0], { monthlyCost: '3.00', locality: 'DE' });
    t.same(
      twilio.take().map(({ path }) => path.split('/').slice(-2).join('/')),
      ['DE/Local.json', 'DE/Mobile.json', 'DE/National.json', 'Countries/DE'],
      'types that a country does not sell are skipped',
    );
    t.same(
      (await service.post('/phone-numbers/available', { kind: 'international', areaCode: '999' }, owner.token)).body
        .available,
      [],
    );
  });

  t.test('[4.18] claim buys the number and points it here', async (t) => {
    twilio.take();
    const { status, body } = await claim({ e164: '+14155550101' });
    t.equal(status, 201);
    t.match(body, { provider: 'twilio', providerDidId: /^PN[0-9a-f]{32}$/ });
    t.match(twilio.take(), [
      {
        method: 'POST',
        path: `${account}/IncomingPhoneNumbers.json`,
        form: {
          PhoneNumber: '+14155550101',
          VoiceUrl: 'https://calls.example/api/v1/carrier/twilio/voice',
          VoiceMethod: 'POST',
          StatusCallback: 'https://calls.example/api/v1/carrier/twilio/status',
          FriendlyName: `switchboard ${body.id}`,
        },
      },
    ]);
  });

  t.test("[4.18] Twilio's refusals", async (t) => {
    twilio.take();
    twilio.once('POST', problems.taken);
    t.match(await claim({ e164: '+14155550102' }), { status: 409, body: { error: 'number_taken' } });
    twilio.once('POST', problems.needsAddress);
    t.match(await claim({ e164: '+14155550102' }), {
      status: 422,
      body: { error: 'semantic_error', message: /Requires an Address/ },
    });
    t.equal(twilio.take().length, 2, 'nothing was bought, nothing is given back');
    for (const failure of [problems.wrongToken, problems.tooMany, problems.broken, 'garbage'] as const) {
      twilio.once('POST', failure);
      t.match(await claim({ e164: '+14155550102' }), { status: 503, body: { error: 'service_unavailable' } });
      const [, found, dropped, ...rest] = twilio.take();
      t.match(
        found,
        { method: 'GET', path: `${account}/IncomingPhoneNumbers.json`, query: { PhoneNumber: '+14155550102' } },
        'it may be bought all the same',
      );
      t.equal(dropped?.method, 'DELETE', 'and is given back');
      t.same(rest, [], 'but never numbers of others');
    }
    t.equal((await claim({ e164: '+14155550102' })).status, 201, 'none of it left the number taken');
    twilio.once('GET', problems.broken);
    t.match(await service.post('/phone-numbers/available', { areaCode: '212' }, owner.token), { status: 503 });
  });

  t.test('[7] an unsigned webhook: 401, and nothing happens', async (t) => {
    const before = (await service.get('/calls', owner.token)).body.calls.length;
    for (const signature of [undefined, '', 'RSOYDt4T1cUTdK1PDd93/VVr8B8='])
      t.match(await sendHook(service, 'voice', { CallSid: newSid(), From: caller, To: line.e164 }, { signature }), {
        status: 401,
        body: { error: 'invalid_signature' },
      });
    t.match(
      await sendHook(
        service,
        'voice',
        { CallSid: newSid(), From: caller, To: line.e164 },
        { baseUrl: 'https://elsewhere.example' },
      ),
      { status: 401 },
    );
    t.equal((await sendHook(service, 'fax', { CallSid: newSid() })).status, 404);
    t.equal((await service.get('/calls', owner.token)).body.calls.length, before);
  });

  t.test('[4.8] a call by webhooks and TwiML from ring to recording', async (t) => {
    const sid = newSid();
    const rung = await ring(sid);
    t.equal(rung.status, 200);
    t.match(rung.headers.get('content-type'), 'text/xml');
    t.equal(
      rung.body,
      '<?xml version="1.0" encoding="UTF-8"?><Response><Say voice="Polly.Amy">Welcome to Smith &amp; Sons.</Say><Enqueue>switchboard</Enqueue></Response>',
    );
    t.equal((await ring(sid)).body, rung.body, 'asked again, it says the same');
    const { id } = await callOf();
    t.match(await callOf(), { state: 'ringing', fromE164: caller, toE164: line.e164, phoneNumberId: line.id });
    twilio.take();

    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    const recordingUrl = `https://calls.example/api/v1/carrier/twilio/recording?to=%2B14155550100&amp;from=%2B14155550123`;
    const dial = (agentId: string) => `<Dial answerOnBridge="true"><Client>${clientOf(agentId)}</Client></Dial>`;
    t.match(await steered(), [
      {
        method: 'POST',
        path: `${account}/Calls/${sid}.json`,
        form: {
          Twiml: `<?xml version="1.0" encoding="UTF-8"?><Response><Start><Recording channels="dual" recordingStatusCallback="${recordingUrl}" recordingStatusCallbackEvent="completed"/></Start>${dial(ann.agentId)}</Response>`,
        },
      },
    ]);
    await service.post(`/calls/${id}/hold`, undefined, ann.token);
    await service.post(`/calls/${id}/hold`, { hold: false }, ann.token);
    const { version } = await callOf();
    await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId, expectedVersion: version }, ann.token);
    await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token);
    await service.post(`/calls/${id}/hangup`, undefined, bob.token);
    t.same(
      (await steered()).map(
        ({ form }) => form['Twiml']?.replace(/^.*<Response>(.*)<\/Response>$/, '$1') ?? form['Status'],
      ),
      ['<Enqueue>switchboard</Enqueue>', dial(ann.agentId), dial(bob.agentId), 'completed'],
      'in order, and recorded once',
    );
    t.equal(
      (
        await sendHook(service, 'status', {
          CallSid: sid,
          From: caller,
          To: line.e164,
          CallStatus: 'completed',
          CallDuration: '73',
        })
      ).body,
      '<?xml version="1.0" encoding="UTF-8"?><Response></Response>',
    );
    await sendHook(
      service,
      'recording',
      {
        CallSid: sid,
        RecordingSid: 'RE1',
        RecordingUrl: `https://api.twilio.com${account}/Recordings/RE1`,
        RecordingStatus: 'completed',
        RecordingDuration: '60',
      },
      { query: 'to=%2B14155550100&from=%2B14155550123' },
    );
    const call = await callOf();
    t.same(timelineOf(call), ['ringing', 'answered', 'on_hold', 'resumed', 'transferred', 'ended']);
    t.match(call.events.at(-1), {
      duration_ms: 73_000,
      recordingUrl: `https://api.twilio.com${account}/Recordings/RE1.mp3`,
    });
    t.equal(call.status, 'solved');
  });

  t.test('[4.8] voicemail: recorded, then reported in three parts', async (t) => {
    const sid = newSid();
    await ring(sid);
    const { id } = await callOf();
    twilio.take();
    await service.pass(30_000);
    const [order] = await steered();
    t.equal(
      order?.form['Twiml'],
      '<?xml version="1.0" encoding="UTF-8"?><Response><Say voice="Polly.Amy">No one can take your call right now. Please leave a message after the tone.</Say>' +
        '<Record maxLength="120" playBeep="true" finishOnKey="#" action="https://calls.example/api/v1/carrier/twilio/voicemail" transcribe="true" transcribeCallback="https://calls.example/api/v1/carrier/twilio/transcription"/><Hangup/></Response>',
      'without a second greeting',
    );
    const recorded = {
      CallSid: sid,
      From: caller,
      To: line.e164,
      RecordingUrl: `https://api.twilio.com${account}/Recordings/RE2`,
      RecordingSid: 'RE2',
    };
    t.equal(
      (await sendHook(service, 'voicemail', { ...recorded, RecordingDuration: '12', Digits: 'hangup' })).body,
      '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>',
    );
    await sendHook(service, 'status', {
      CallSid: sid,
      From: caller,
      To: line.e164,
      CallStatus: 'completed',
      CallDuration: '45',
    });
    const socket = await service.agentSocket(ann.token);
    await sendHook(service, 'transcription', {
      ...recorded,
      TranscriptionSid: 'TR1',
      TranscriptionStatus: 'completed',
      TranscriptionText: 'Call me back.',
    });
    t.match((await socket.next('call.voicemail_left')).data.call, { id });
    const call = await callOf();
    t.match(call, { status: 'open', state: 'ended', assignedAgentId: null });
    t.same(timelineOf(call), ['ringing', 'voicemail_left', 'ended']);
    const voicemail = (await service.get(`/voicemails/${call.voicemailId}`, owner.token)).body;
    t.match(voicemail, {
      durationMs: 12_000,
      recordingUrl: `https://api.twilio.com${account}/Recordings/RE2.mp3`,
      transcript: 'Call me back.',
    });
    t.equal(
      (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1).body,
      'Call me back.',
    );
    await sendHook(service, 'transcription', {
      ...recorded,
      TranscriptionStatus: 'completed',
      TranscriptionText: 'Something else.',
    });
    t.equal(
      (await service.get(`/voicemails/${call.voicemailId}`, owner.token)).body.transcript,
      'Call me back.',
      'the first one counts',
    );
    await socket.close();
  });

  t.test('[4.8] a transcript that arrives before its voicemail, or failed', async (t) => {
    const early = {
      CallSid: newSid(),
      From: caller,
      To: line.e164,
      RecordingUrl: `https://api.twilio.com${account}/Recordings/RE3`,
    };
    await sendHook(service, 'transcription', {
      ...early,
      TranscriptionStatus: 'completed',
      TranscriptionText: 'First.',
    });
    await sendHook(service, 'voicemail', { ...early, RecordingDuration: '5' });
    t.same(timelineOf(await callOf()), ['ringing', 'voicemail_left']);
    service.clock.advance(1000);
    const failed = {
      CallSid: newSid(),
      From: caller,
      To: line.e164,
      RecordingUrl: `https://api.twilio.com${account}/Recordings/RE4`,
    };
    await sendHook(service, 'voicemail', { ...failed, RecordingDuration: '5' });
    await sendHook(service, 'transcription', { ...failed, TranscriptionStatus: 'failed' });
    const { voicemailId } = await callOf();
    t.match((await service.get(`/voicemails/${voicemailId}`, owner.token)).body, {
      transcript: null,
      recordingUrl: /RE4\.mp3$/,
    });
  });

  t.test('[4.8] withheld numbers, callers who hang up, calls to other numbers', async (t) => {
    for (const From of ['anonymous', 'Restricted', '+266696687']) {
      service.clock.advance(1000);
      const sid = newSid();
      await ring(sid, { From });
      t.match(await callOf(), { fromE164: null, visitorId: null }, From);
      await sendHook(service, 'status', { CallSid: sid, From, To: line.e164, CallStatus: 'in-progress' });
      t.equal((await callOf()).state, 'ringing', 'a status on the way is no end');
      await sendHook(service, 'status', { CallSid: sid, From, To: line.e164, CallStatus: 'no-answer' });
      t.match(await callOf(), { state: 'ended', status: 'open' });
    }
    const hangup = '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>';
    t.equal((await ring(newSid(), { To: '+14155559999' })).body, hangup);
    service.clock.advance(1000);
    await service.patch(
      `/phone-numbers/${line.id}`,
      {
        businessHours: { days: [{ weekday: 1, opens: '00:00', closes: '00:01' }] },
        voicemailEnabled: false,
        welcomeAudioUrl: 'https://sound.example/a?b=1&c=2',
      },
      owner.token,
    );
    t.equal((await ring(newSid())).body, hangup, 'closed, without voicemail');
    await service.patch(`/phone-numbers/${line.id}`, { voicemailEnabled: true }, owner.token);
    t.match(
      (await ring(newSid())).body,
      /<Play>https:\/\/sound\.example\/a\?b=1&amp;c=2<\/Play><Say voice="Polly\.Amy">Welcome to Smith &amp; Sons\.<\/Say><Say voice="Polly\.Amy">No one can take.*<Record /,
      'closed, with voicemail: the greeting comes first',
    );
    await service.settled();
    t.same(
      await steered().then((all) => all.filter(({ form }) => form['Status'] === undefined)),
      [],
      'an immediately answered call is not ordered again',
    );
    await service.patch(`/phone-numbers/${line.id}`, { businessHours: null, welcomeAudioUrl: null }, owner.token);
  });

  t.test('[providers] orders are tried again while it makes sense', async (t) => {
    service.clock.advance(1000);
    const sid = newSid();
    await ring(sid);
    const { id } = await callOf();
    twilio.take();
    twilio.once(`Calls/${sid}`, problems.broken);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    await service.settled();
    await service.post(`/calls/${id}/hold`, undefined, ann.token);
    await service.settled();
    t.equal(twilio.take().length, 1, 'the next order waits for the first');
    await service.pass(700);
    t.same(
      (await steered()).map(({ form }) => form['Twiml']?.includes('<Dial')),
      [true, false],
    );
    for (const over of [problems.noSuchCall, problems.notInProgress]) {
      twilio.once(`Calls/${sid}`, over);
      await service.post(`/calls/${id}/hold`, { hold: over !== problems.noSuchCall }, ann.token);
      await service.settled();
    }
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    await service.settled();
    const states = service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.all<{ state: string }>(`SELECT DISTINCT state FROM outbox WHERE kind = 'carrier.call' AND subjectId = ?`, [
        id,
      ]);
    t.same(states, [{ state: 'sent' }], 'a call that is over needs nothing');
  });

  t.test("[providers] Twilio's failures are reported to the agents", async (t) => {
    service.clock.advance(1000);
    const sid = newSid();
    await ring(sid);
    const { id } = await callOf();
    twilio.once(`Calls/${sid}`, problems.needsAddress);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    await service.settled();
    t.match((await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1), {
      senderType: 'system',
      senderId: null,
      body: /^The carrier did not do this: connect\. /,
    });
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    await service.settled();
  });

  t.test('[4.18] release gives it back, also when Twilio is down at first', async (t) => {
    const number = (await claim({ e164: '+14155550109' })).body;
    twilio.take();
    twilio.once('DELETE', problems.broken);
    t.equal((await service.delete(`/phone-numbers/${number.id}`, owner.token)).status, 200);
    await service.settled();
    await service.pass(75_000);
    t.same(
      twilio.take().map(({ method, path }) => `${method} ${path}`),
      Array.from({ length: 2 }, () => `DELETE ${account}/IncomingPhoneNumbers/${number.providerDidId}.json`),
    );
  });

  t.test('[4.21] one-time codes by SMS and by a call that reads them', async (t) => {
    const key = await makeKey(service, owner);
    await service.post('/verify/services', { name: 'x' }, owner.token);
    twilio.take();
    const sent: Record<string, string> = {};
    for (const channel of ['sms', 'voice']) {
      const { status, body } = await service.post('/verify', { to: '+12025550123', channel }, key);
      t.equal(status, 201);
      sent[channel] = body.id;
    }
    await service.settled();
    t.match(twilio.take(), [
      {
        method: 'POST',
        path: `${account}/Messages.json`,
        form: { To: '+12025550123', From: '+14155550199', Body: /^\d{6} is your code/ },
      },
      {
        method: 'POST',
        path: `${account}/Calls.json`,
        form: {
          To: '+12025550123',
          From: '+14155550199',
          Twiml:
            /^<\?xml[^>]*><Response><Say language="en-US">Hello\. Your code for Shop 1 is: (\d, ){5}\d\..*<\/Say><Hangup\/><\/Response>$/,
        },
      },
    ]);
    const answerOf = (verificationId: string) =>
      service.running.services.engine
        .workspace(owner.workspaceId)
        ?.db.get('SELECT state, lastAnswer FROM outbox WHERE subjectId = ?', [verificationId]);
    t.match(answerOf(sent.sms ?? ''), { state: 'sent', lastAnswer: /^SM/ });
    twilio.once('Messages', problems.badRecipient);
    const refused = (await service.post('/verify', { to: '+12025550198', channel: 'sms' }, key)).body.id;
    await service.settled();
    t.match(answerOf(refused), { state: 'failed', lastAnswer: /not a valid phone number/ });
  });
});

t.test('[providers] a carrier that does not answer is a 503 in time, never a hang', async (t) => {
  const twilio = await FakeTwilio.start(t);
  const settings = {
    accountSid,
    authToken,
    smsFrom: null,
    voiceFrom: null,
    apiUrl: twilio.url,
    pricingUrl: twilio.url,
    baseUrl: 'https://calls.example',
    numberingPlan: createNumberingPlan(),
  };
  const carrier = twilioCarrier({ ...settings, timeoutMs: 50 });
  twilio.once('GET', 'hang');
  await t.rejects(
    carrier.search({ kind: 'local', areaCode: '415', limit: 1, isHeld: () => false }),
    CarrierUnavailable,
  );
  const nobody = twilioCarrier({ ...settings, apiUrl: 'http://127.0.0.1:1' });
  await t.rejects(nobody.buy({ e164: '+14155550101', label: 'x' }), CarrierUnavailable);
  await t.rejects(carrier.sendSms({ id: '1', workspaceId: 'w', to: caller, body: 'x' }), {
    name: 'CarrierRefused',
    message: 'TWILIO_SMS_FROM is not set',
  });
  await t.rejects(carrier.speak({ id: '1', workspaceId: 'w', to: caller, language: 'en-US', body: 'x' }), {
    name: 'CarrierRefused',
    message: 'TWILIO_VOICE_FROM is not set',
  });
});
