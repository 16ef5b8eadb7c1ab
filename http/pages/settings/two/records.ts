// The records of these sections as the API's document gives them. What more than one route speaks of comes from the service's own
// schemas; these are each the shape of one route.

import type { WeeklyHours } from '../../records.ts';

export { type KbJob } from '../../records.ts';

export interface KbDocument {
  readonly id: string;
  readonly sourceType: 'url' | 'article';
  readonly sourceUrl: string | null;
  readonly title: string;
  readonly byteSize: number;
  readonly chunkCount: number;
  readonly articleId: string | null;
  readonly ingestedAt: string;
}

export interface KbChunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly sourceUrl: string | null;
  readonly title: string;
  readonly text: string;
  readonly score: number;
}

export interface Article {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  readonly body: string;
  readonly status: 'draft' | 'published';
  readonly sourceDocumentId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type RoutingStrategy = 'all_agents' | 'department' | 'specific_agent';

export interface PhoneNumber {
  readonly id: string;
  readonly e164: string;
  readonly displayName: string;
  readonly routingStrategy: RoutingStrategy;
  readonly routingTargetId: string | null;
  readonly voicemailEnabled: boolean;
  readonly recordingEnabled: boolean;
  readonly voiceProfileId: string | null;
  readonly businessHours: WeeklyHours | null;
  readonly welcomeAudioUrl: string | null;
  readonly status: 'active' | 'released';
  readonly createdAt: string;
  readonly releasedAt: string | null;
}

export interface AvailableNumber {
  readonly e164: string;
  /** US dollars. */
  readonly monthlyCost: string;
  readonly locality: string;
}

export interface VoiceProfile {
  readonly id: string;
  readonly name: string;
  readonly greetingText: string;
  readonly voice: string;
  readonly createdAt: string;
}

export interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority?: number;
  readonly status: 'pending' | 'verified';
}

export interface EmailDomain {
  readonly id: string;
  readonly name: string;
  readonly status: 'pending' | 'verified';
  readonly records: readonly DnsRecord[];
  readonly lastCheckedAt: string | null;
  readonly pollUntil: string;
}

export interface InboundAddress {
  readonly address: string;
  readonly kind: 'auto' | 'subdomain' | 'custom';
  readonly localPart: string;
  readonly departmentId: string | null;
}

export interface Suppression {
  readonly email: string;
  readonly reason: 'bounce' | 'rejected';
  readonly createdAt: string;
}

export type PlanId = 'chat' | 'support' | 'business' | 'enterprise';
export type Interval = 'monthly' | 'annual';

export interface Subscription {
  readonly id: string;
  readonly plan: PlanId;
  readonly addons: readonly 'ai'[];
  readonly status: 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'incomplete' | 'incomplete_expired' | 'canceled';
  readonly billingInterval: Interval;
  readonly billingSource: 'local' | 'stripe' | 'marketplace';
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  readonly cancelAtPeriodEnd: boolean;
}

export interface Standing {
  readonly subscription: Subscription | null;
  readonly planId: PlanId;
  readonly locked: boolean;
  readonly daysLeftInTrial: number | null;
  readonly addons: readonly 'ai'[];
  readonly billingSource: 'local' | 'stripe' | 'marketplace' | null;
  readonly entitlements: { readonly features: readonly string[]; readonly seats: { readonly limit: number | null; readonly taken: number } };
}

export interface Invoice {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly hostedUrl: string | null;
  readonly createdAt: string;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface OAuthApp {
  readonly id: string;
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly public: boolean;
  readonly status: 'development' | 'live';
  readonly createdAt: string;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly status: 'active' | 'disabled';
  readonly createdAt: string;
}

export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAnswer: string | null;
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly createdAt: string;
}

export interface AuditEntry {
  readonly id: string;
  readonly actorAgentId: string | null;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
}

export type VerifyChannel = 'email' | 'sms' | 'voice' | 'totp' | 'whatsapp' | 'push' | 'sna';

export interface VerifyService {
  readonly id: string;
  readonly name: string;
  readonly enabledChannels: readonly VerifyChannel[];
  readonly allowedCountries: readonly string[];
  readonly perMinuteCap: number;
  readonly perDayCap: number;
  readonly codeLength: number;
  readonly ttlSeconds: number;
  readonly isDefault: boolean;
  readonly createdAt: string;
}

export interface VerifyCredits {
  readonly balanceCents: number | null;
  readonly spendCapCents: number | null;
  readonly spentCents: number;
}

export interface VerificationRow {
  readonly id: string;
  readonly status: 'pending' | 'verified' | 'expired' | 'failed';
  readonly channel: 'email' | 'sms' | 'voice';
  readonly to: string;
  readonly serviceId: string;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly attempts: number;
  readonly consumedAt: string | null;
}
