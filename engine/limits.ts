// The numbers of specification 8 that rules need. Those that only shape a request stand in its schema in http/.

export const handshakeMs = 30_000;
/** A call rings so long before it goes to voicemail or is missed. */
export const ringMs = 30_000;
export const resetTokenMs = 30 * 60_000;
export const joinCodeMs = 7 * 24 * 3600_000;
export const minPasswordChars = 10;
/** Of zxcvbn's 0 to 4. */
export const minPasswordScore = 3;
export const autoCloseDays = 7;
export const eventsKeptMs = 7 * 24 * 3600_000;
export const auditKeptMs = 365 * 24 * 3600_000;
export const auditTombstoneMs = 30 * 24 * 3600_000;
/** Ten times as long as Stripe goes on delivering one. */
export const billingEventsKeptMs = 30 * 24 * 3600_000;
export const outboxKeptMs = 7 * 24 * 3600_000;
export const maxOpenChatsPerAgent = 5;
export const awayAfterMinutes = 5;
/** All of them are listed at once, with their members, and each agent is told of with those that it is in. */
export const maxDepartments = 200;
export const previewChars = 140;
/** Of a message; a longer transcript is cut. */
export const maxMessageChars = 10_000;
/** Entries of a call's timeline after which it is no longer put on hold: every event about it carries the timeline. */
export const maxHoldChanges = 200;
export const crawlMaxDepth = 2;
export const crawlMaxPages = 200;
export const kbJobsListed = 20;
/** Crawls of a workspace that wait or run. Each is asked for by hand. */
export const maxUnfinishedCrawls = 20;
/** All of them are listed at once. */
export const maxKbDocuments = 10_000;
/** All of them are listed at once, with their texts. */
export const maxKbArticles = 500;
export const maxAttachmentBytes = 25 * 1024 * 1024;
export const maxLogoBytes = 2 * 1024 * 1024;
export const uploadLinkMs = 5 * 60_000;
/** Anybody may be a visitor (decisions, settled after the audit). */
export const visitorLinksPerMinute = 20;
export const visitorUploadBytesPerDay = 250 * 1024 * 1024;
/**
 * Of all visitors of a network together: some of them share an address, and one that begins as another each time has it
 * still.
 */
export const networkUploadBytesPerDay = 4 * visitorUploadBytesPerDay;
/** What a visitor uploaded and no message names by then is removed. */
export const unnamedUploadMs = 24 * 3600_000;
/** Wrong codes after which a verification is locked for good. */
export const maxCheckAttempts = 5;
export const verifyPerMinuteCap = 10;
export const verifyPerDayCap = 1000;
export const verifyCodeLength = 6;
export const verifyTtlSeconds = 600;
/** Where codes go by phone, of a service that says nothing else (ISO 3166 alpha-2). */
export const verifyCountries: readonly string[] = ['US', 'CA'];
export const destinationSendsPerMinute = 3;
export const sourceSendsPerMinute = 10;
export const verificationsKeptMs = 90 * 24 * 3600_000;
export const oauthCodeMs = 60_000;
export const accessTokenMs = 3600_000;
/** From the last use: each use brings a new one. */
export const refreshTokenMs = 90 * 24 * 3600_000;
/** However much a sign-in is used, it is asked for again after so long. */
export const longestSessionMs = 90 * 24 * 3600_000;
/** So long a sign-in counts as the agent's own for what could lock it out of its account. */
export const confirmedMs = 15 * 60_000;
/** Sign-ins of before a second factor was required go on so long without one. */
export const enrolGraceMs = 7 * 24 * 3600_000;
/** Since an agent was last there; then it is a stranger's. */
export const knownBrowserMs = 180 * 24 * 3600_000;
export const knownNetworkMs = 30 * 24 * 3600_000;
export const accountNoticesKeptMs = 7 * 24 * 3600_000;
