// The numbers of specification 8 that rules need. Those that only shape a request stand in its schema in http/.

export const handshakeMs = 30_000;
export const resetTokenMs = 30 * 60_000;
export const joinCodeMs = 7 * 24 * 3600_000;
export const minPasswordChars = 10;
/** Of zxcvbn's 0 to 4. */
export const minPasswordScore = 3;
export const autoCloseDays = 7;
export const eventsKeptMs = 7 * 24 * 3600_000;
export const auditKeptMs = 365 * 24 * 3600_000;
export const auditTombstoneMs = 30 * 24 * 3600_000;
export const outboxKeptMs = 7 * 24 * 3600_000;
export const maxOpenChatsPerAgent = 5;
export const previewChars = 140;
