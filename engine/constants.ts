// Constants of specification 8 that rules use. Those that only shape a request are in its schema in http/.

export const handshakeMs = 30_000;
/** How long a call rings before it goes to voicemail or is missed. */
export const ringMs = 30_000;
export const resetTokenMs = 30 * 60_000;
export const joinCodeMs = 7 * 24 * 3600_000;
export const minPasswordChars = 10;
/** On zxcvbn's scale of 0 to 4. */
export const minPasswordScore = 3;
export const autoCloseDays = 7;
export const eventsKeptMs = 7 * 24 * 3600_000;
export const auditKeptMs = 365 * 24 * 3600_000;
export const auditTombstoneMs = 30 * 24 * 3600_000;
/** Ten times as long as Stripe retries a delivery. */
export const billingEventsKeptMs = 30 * 24 * 3600_000;
/** What the language model was asked and answered. */
export const aiRequestsKeptMs = 7 * 24 * 3600_000;
export const outboxKeptMs = 7 * 24 * 3600_000;
export const maxOpenChatsPerAgent = 5;
export const awayAfterMinutes = 5;
export const unseenMailMinutes = 3;
/** All are listed at once with their members, and each agent's events list the departments it is in. */
export const maxDepartments = 200;
/** Of the queue, for the team and for each agent. All are listed at once. */
export const maxViews = 50;
export const previewChars = 140;
/** Of a message; a longer transcript is cut. */
export const maxMessageChars = 10_000;
/** Timeline entries after which a call can no longer be put on hold: every event about it carries the timeline. */
export const maxHoldChanges = 200;
export const crawlMaxDepth = 2;
export const crawlMaxPages = 200;
export const kbJobsListed = 20;
/** Crawls of a workspace queued or running. Each is requested by hand. */
export const maxUnfinishedCrawls = 20;
/** All are listed at once. */
export const maxKbDocuments = 10_000;
/** All are listed at once, with their texts. */
export const maxKbArticles = 500;
export const maxAttachmentBytes = 25 * 1024 * 1024;
export const maxLogoBytes = 2 * 1024 * 1024;
export const uploadLinkMs = 5 * 60_000;
/** Anyone can be a visitor (decisions, settled after the audit). */
export const visitorLinksPerMinute = 20;
export const visitorUploadBytesPerDay = 250 * 1024 * 1024;
/**
 * For all visitors of a network together: several people may share an address, and an attacker who poses as a new
 * visitor each time still has it.
 */
export const networkUploadBytesPerDay = 4 * visitorUploadBytesPerDay;
/** Deletes visitors' uploads that no message names by then. */
export const unnamedUploadMs = 24 * 3600_000;
/** Wrong codes after which a verification is locked for good. */
export const maxCheckAttempts = 5;
export const verifyPerMinuteCap = 10;
export const verifyPerDayCap = 1000;
export const verifyCodeLength = 6;
export const verifyTtlSeconds = 600;
/** The default for codes by phone (ISO 3166 alpha-2). */
export const verifyCountries: readonly string[] = ['US', 'CA'];
export const destinationSendsPerMinute = 3;
export const sourceSendsPerMinute = 10;
export const verificationsKeptMs = 90 * 24 * 3600_000;
export const oauthCodeMs = 60_000;
export const accessTokenMs = 3600_000;
/** From the last use: each use issues a new one. */
export const refreshTokenMs = 90 * 24 * 3600_000;
/** The maximum age of a sign-in, however much it is used. */
export const longestSessionMs = 90 * 24 * 3600_000;
/** How long a confirmation counts for actions that could lock the agent out. */
export const confirmedMs = 15 * 60_000;
/** Grace period for sign-ins from before a second factor was required. */
export const enrolGraceMs = 7 * 24 * 3600_000;
/** From the agent's last sign-in there; after that the browser counts as unknown. */
export const knownBrowserMs = 180 * 24 * 3600_000;
export const knownNetworkMs = 30 * 24 * 3600_000;
export const accountNoticesKeptMs = 7 * 24 * 3600_000;
