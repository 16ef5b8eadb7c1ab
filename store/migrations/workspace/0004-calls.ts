import type { Migration } from '../../database.ts';

// A call is a conversation of channel call with a row here for its own data. Its timeline is separate from its
// messages.
export const calls: Migration = {
  version: 4,
  name: 'calls',
  sql: `
CREATE TABLE voiceProfile (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  greetingText TEXT NOT NULL,
  voice TEXT NOT NULL,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX voiceProfileByCreated ON voiceProfile (createdAt, id);

CREATE TABLE phoneNumber (
  id TEXT PRIMARY KEY,
  e164 TEXT NOT NULL,
  displayName TEXT NOT NULL,
  provider TEXT NOT NULL,
  providerDidId TEXT NOT NULL,
  routingStrategy TEXT NOT NULL CHECK (routingStrategy IN ('all_agents', 'department', 'specific_agent')),
  routingTargetId TEXT,
  voicemailEnabled INTEGER NOT NULL CHECK (voicemailEnabled IN (0, 1)),
  recordingEnabled INTEGER NOT NULL CHECK (recordingEnabled IN (0, 1)),
  smartHoldEnabled INTEGER NOT NULL CHECK (smartHoldEnabled IN (0, 1)),
  voiceProfileId TEXT REFERENCES voiceProfile (id),
  businessHours TEXT,
  welcomeAudioUrl TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'released')),
  createdAt TEXT NOT NULL,
  releasedAt TEXT,
  CHECK ((routingStrategy = 'all_agents') = (routingTargetId IS NULL)),
  CHECK ((status = 'released') = (releasedAt IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX phoneNumberInUse ON phoneNumber (e164) WHERE status = 'active';
CREATE INDEX phoneNumberByE164 ON phoneNumber (e164, createdAt);
CREATE INDEX phoneNumberByCreated ON phoneNumber (createdAt, id);

CREATE TABLE call (
  conversationId TEXT PRIMARY KEY REFERENCES conversation (id),
  phoneNumberId TEXT NOT NULL REFERENCES phoneNumber (id),
  -- The carrier's name for it: what makes its deliveries idempotent.
  carrierCallId TEXT NOT NULL UNIQUE,
  -- Null when the caller withholds it.
  fromE164 TEXT,
  toE164 TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('ringing', 'active', 'voicemail', 'ended')),
  -- Who is on the phone.
  agentId TEXT REFERENCES agent (id),
  isOnHold INTEGER NOT NULL CHECK (isOnHold IN (0, 1)),
  isRecorded INTEGER NOT NULL CHECK (isRecorded IN (0, 1)),
  ringingAgentIds TEXT NOT NULL,
  answeredAt TEXT,
  endedAt TEXT,
  -- When the carrier itself said that it ended, before or after we knew.
  carrierEndedAt TEXT,
  durationMs INTEGER,
  recordingUrl TEXT,
  voicemailId TEXT,
  createdAt TEXT NOT NULL,
  CHECK ((phase = 'active') = (agentId IS NOT NULL)),
  CHECK ((phase = 'ended') = (endedAt IS NOT NULL)),
  CHECK (isOnHold = 0 OR phase = 'active')
) STRICT, WITHOUT ROWID;
-- An agent is in one call at a time.
CREATE UNIQUE INDEX callByAgent ON call (agentId) WHERE agentId IS NOT NULL;
CREATE INDEX callRinging ON call (createdAt) WHERE phase = 'ringing';
CREATE INDEX callByNumber ON call (phoneNumberId, createdAt);

CREATE TABLE callEvent (
  conversationId TEXT NOT NULL REFERENCES call (conversationId),
  position INTEGER NOT NULL,
  eventType TEXT NOT NULL CHECK (eventType IN ('ringing', 'answered', 'on_hold', 'resumed', 'transferred', 'ended', 'voicemail_left', 'ai_engaged')),
  detail TEXT NOT NULL,
  createdAt TEXT NOT NULL,
  PRIMARY KEY (conversationId, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE voicemail (
  id TEXT PRIMARY KEY,
  conversationId TEXT NOT NULL UNIQUE REFERENCES call (conversationId),
  fromE164 TEXT,
  durationMs INTEGER,
  recordingUrl TEXT,
  transcript TEXT,
  listenedAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX voicemailByCreated ON voicemail (createdAt, id);

-- The lists of calls, by what they are filtered by.
CREATE INDEX conversationCalls ON conversation (createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationCallsByStatus ON conversation (status, createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationCallsByAssignee ON conversation (assignedAgentId, createdAt, id) WHERE channel = 'call';
CREATE INDEX conversationCallsByDepartment ON conversation (departmentId, createdAt, id) WHERE channel = 'call';

-- A caller is known by its number.
CREATE INDEX visitorByPhone ON visitor (phoneE164) WHERE phoneE164 IS NOT NULL;
CREATE INDEX contactByPhone ON contact (phone, createdAt, id) WHERE phone IS NOT NULL;
`,
};
