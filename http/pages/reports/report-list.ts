// The reports there are: where each stands, what it can be narrowed to, and by what name it is exported.

import type { Channel } from '../records.ts';

export type ReportSlug =
  | 'chats'
  | 'tickets'
  | 'status'
  | 'response-times'
  | 'satisfaction'
  | 'agents'
  | 'customers'
  | 'conversions'
  | 'conversations';

export interface ReportPlace {
  readonly slug: ReportSlug;
  readonly title: string;
  /** Where there is little room. */
  readonly short?: string;
  readonly about: string;
  /** Its path after /reports/, which names its export too. */
  readonly path: string;
  /** It is of one channel that can be chosen, `one`; of this one alone; or of `all` of them. */
  readonly channel: 'one' | 'all' | Channel;
  readonly hasSeries: boolean;
}

export const reportPlaces: readonly ReportPlace[] = [
  {
    slug: 'chats',
    title: 'Chats',
    about: 'How many chats began, over time.',
    path: 'chats/total',
    channel: 'chat',
    hasSeries: true,
  },
  {
    slug: 'tickets',
    title: 'Tickets',
    about: 'How many tickets began, over time.',
    path: 'tickets/total',
    channel: 'ticket',
    hasSeries: true,
  },
  {
    slug: 'status',
    title: 'By status',
    about: 'Where the conversations that began in this time are now.',
    path: 'tickets/by-status',
    channel: 'one',
    hasSeries: false,
  },
  {
    slug: 'response-times',
    title: 'Response times',
    short: 'Speed',
    about: 'How long customers waited for a first answer, and until they were helped.',
    path: 'tickets/response-times',
    channel: 'one',
    hasSeries: false,
  },
  {
    slug: 'satisfaction',
    title: 'Satisfaction',
    about: 'How customers rated, from 1 to 5.',
    path: 'tickets/satisfaction',
    channel: 'one',
    hasSeries: true,
  },
  {
    slug: 'agents',
    title: 'Agents',
    about: 'What each agent did, by who has the conversation.',
    path: 'agents/performance',
    channel: 'all',
    hasSeries: false,
  },
  {
    slug: 'customers',
    title: 'Waiting and given up',
    short: 'Waiting',
    about: 'Who waits now, and who left before an agent answered.',
    path: 'customers',
    channel: 'all',
    hasSeries: false,
  },
  {
    slug: 'conversions',
    title: 'Goals',
    about: 'What visitors did that you hoped for, and what it was worth.',
    path: 'conversions/goals',
    channel: 'all',
    hasSeries: true,
  },
  {
    slug: 'conversations',
    title: 'Conversations',
    about: 'Those that the figures are made of.',
    path: 'conversations',
    channel: 'all',
    hasSeries: false,
  },
];

export const channelNames: Readonly<Record<Channel, string>> = { chat: 'Chats', ticket: 'Tickets', call: 'Calls' };
export const channels: readonly Channel[] = ['chat', 'ticket', 'call'];

export function placeOf(slug: string): ReportPlace | undefined {
  return reportPlaces.find((one) => one.slug === slug);
}
