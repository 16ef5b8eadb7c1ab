// The reports: the path, the filters, and the export's name of each.

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
  /** For narrow screens. */
  readonly short?: string;
  readonly about: string;
  /** The path after /reports/, which is also the export's name. */
  readonly path: string;
  /** `one`: for one channel, to choose; a channel: only for that one; or `all` of them. */
  readonly channel: 'one' | 'all' | Channel;
  readonly hasSeries: boolean;
}

export const reportPlaces: readonly ReportPlace[] = [
  {
    slug: 'chats',
    title: 'Chats',
    about: 'How many chats started, over time.',
    path: 'chats/total',
    channel: 'chat',
    hasSeries: true,
  },
  {
    slug: 'tickets',
    title: 'Tickets',
    about: 'How many tickets started, over time.',
    path: 'tickets/total',
    channel: 'ticket',
    hasSeries: true,
  },
  {
    slug: 'status',
    title: 'By status',
    about: 'The current status of conversations that started in this period.',
    path: 'tickets/by-status',
    channel: 'one',
    hasSeries: false,
  },
  {
    slug: 'response-times',
    title: 'Response times',
    short: 'Speed',
    about: 'How long customers waited for a first response, and for a solution.',
    path: 'tickets/response-times',
    channel: 'one',
    hasSeries: false,
  },
  {
    slug: 'satisfaction',
    title: 'Satisfaction',
    about: 'How customers rated you, from 1 to 5.',
    path: 'tickets/satisfaction',
    channel: 'one',
    hasSeries: true,
  },
  {
    slug: 'agents',
    title: 'Agents',
    about: 'What each agent did, counted by assigned agent.',
    path: 'agents/performance',
    channel: 'all',
    hasSeries: false,
  },
  {
    slug: 'customers',
    title: 'Waiting and abandoned',
    short: 'Waiting',
    about: 'Who is waiting now, and who left before an agent answered.',
    path: 'customers',
    channel: 'all',
    hasSeries: false,
  },
  {
    slug: 'conversions',
    title: 'Goals',
    about: 'Which goals visitors reached, and their value.',
    path: 'conversions/goals',
    channel: 'all',
    hasSeries: true,
  },
  {
    slug: 'conversations',
    title: 'Conversations',
    about: 'The conversations behind the figures.',
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
