// The declaration of a call against its table and its view.

import { join } from 'node:path';
import t from 'tap';
import { callView } from '../../engine/conversations/call.ts';
import { type CallRecord, findCall } from '../../store/calls/calls.ts';
import * as declared from '../../store/calls/records.ts';
import { insertCall, unsetCall, updateCall } from '../../store/calls/writes.ts';
import { unsetConversation } from '../../store/conversations/writes.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from '../support/folder.ts';

const at = '2026-11-01T00:00:00.000Z';
const later = '2026-11-02T00:00:00.000Z';
const conversationId = '00000000-0000-4000-8000-000000000001';

t.test('a call is read as it was written, and shown with its conversation', async (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'x.db'), workspaceMigrations);
  t.teardown(() => db.close());
  // Its number, agent and conversation are not needed.
  db.run('PRAGMA foreign_keys = OFF');
  const ringing: CallRecord = {
    ...unsetCall,
    conversationId,
    phoneNumberId: 'n',
    carrierCallId: 'c',
    toE164: '+14155550123',
    phase: 'ringing',
    isOnHold: false,
    isRecorded: true,
    ringingAgentIds: ['a', 'b'],
    createdAt: at,
  };
  const held: CallRecord = {
    ...ringing,
    phase: 'active',
    agentId: 'a',
    isOnHold: true,
    ringingAgentIds: [],
    answeredAt: later,
    carrierEndedAt: later,
    durationMs: 1000,
    recordingUrl: 'https://carrier.example/r',
    voicemailId: 'v',
  };
  t.same(Object.keys(held).sort(), Object.keys(declared.CallRecord.properties).sort(), 'it is complete');
  insertCall(db, ringing);
  t.same(findCall(db, conversationId), ringing);
  updateCall(db, held);
  t.same(findCall(db, conversationId), held);
  t.equal(findCall(db, conversationId)?.isOnHold, true);
  updateCall(db, { ...held, fromE164: '+14155550199', isRecorded: false, createdAt: later });
  t.same(findCall(db, conversationId), held, 'what is fixed is not written');

  const conversation = {
    ...unsetConversation,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    id: conversationId,
    version: 3,
    channel: 'call',
    status: 'open',
    createdAt: at,
    updatedAt: later,
  } as const;
  const view = callView({ db }, conversation, { ...held, events: [] });
  t.strictSame(Object.keys(view), Object.keys(declared.CallView.properties));
  t.match(view, {
    id: conversationId,
    version: 3,
    channel: 'call',
    state: 'on_hold',
    ringingAgentIds: [],
    updatedAt: later,
  });
  t.match(callView({ db }, conversation, { ...ringing, events: [] }), {
    state: 'ringing',
    ringingAgentIds: ['a', 'b'],
  });
});
