// A campaign as the API's record, as form values and as text.

import type {
  Campaign,
  CampaignContent,
  CampaignFrequency,
  CampaignStatus,
  TriggerRules,
  UrlMatch,
} from '../../records.ts';
import { matchInWords } from './url-words.ts';

export type QuickReply = NonNullable<CampaignContent['quickReplies']>[number];

export interface CampaignValues {
  readonly name: string;
  readonly everyPage: boolean;
  readonly urlMatch: UrlMatch;
  /** As typed. */
  readonly showAfterSeconds: string;
  readonly scrollDepthPct: string;
  readonly exitIntent: boolean;
  readonly frequency: CampaignFrequency;
  readonly officeHoursOnly: boolean;
  readonly body: string;
  readonly agentName: string;
  readonly agentAvatarUrl: string;
  readonly quickReplies: readonly QuickReply[];
}

export const statusNames: Readonly<Record<CampaignStatus, string>> = {
  draft: 'Draft',
  live: 'Live',
  paused: 'Paused',
  archived: 'Archived',
};
export const frequencyNames: Readonly<Record<CampaignFrequency, string>> = {
  once: 'once per visitor',
  session: 'once per visit',
  always: 'every time',
};

export function valuesOf(campaign: Campaign | undefined): CampaignValues {
  const {
    urlMatch,
    showAfterMs = 0,
    exitIntent = false,
    scrollDepthPct = 0,
    frequency = 'session',
    officeHoursOnly = false,
  } = campaign?.triggerRules ?? {};
  const { body = '', agentName = '', agentAvatarUrl = '', quickReplies = [] } = campaign?.content ?? {};
  return {
    name: campaign?.name ?? '',
    everyPage: urlMatch === undefined,
    urlMatch: urlMatch ?? { operator: 'contains', value: '' },
    showAfterSeconds: String(showAfterMs / 1000),
    scrollDepthPct: String(scrollDepthPct),
    exitIntent,
    frequency,
    officeHoursOnly,
    body,
    agentName,
    agentAvatarUrl,
    quickReplies,
  };
}

export function rulesOf(values: CampaignValues): TriggerRules {
  return {
    ...(values.everyPage ? {} : { urlMatch: values.urlMatch }),
    showAfterMs: Math.round(numberOf(values.showAfterSeconds) * 1000),
    exitIntent: values.exitIntent,
    scrollDepthPct: numberOf(values.scrollDepthPct),
    frequency: values.frequency,
    officeHoursOnly: values.officeHoursOnly,
  };
}

export function contentOf({ body, agentName, agentAvatarUrl, quickReplies }: CampaignValues): CampaignContent {
  return {
    body,
    ...(agentName.trim() === '' ? {} : { agentName }),
    ...(agentAvatarUrl.trim() === '' ? {} : { agentAvatarUrl: agentAvatarUrl.trim() }),
    ...(quickReplies.length === 0
      ? {}
      : {
          quickReplies: quickReplies.map(({ label, action, value }) =>
            action === 'navigate' ? { label, action, value: value?.trim() ?? '' } : { label, action },
          ),
        }),
  };
}

/** An empty field is zero. Invalid text is sent unchanged, so that the service refuses it at its field. */
function numberOf(text: string): number {
  return Number(text.trim().replace(',', '.'));
}

/** "On pages whose address contains “/cart”, after 5 seconds, once per visit, while you are open." */
export function rulesInWords({
  urlMatch,
  showAfterMs = 0,
  exitIntent = false,
  scrollDepthPct = 0,
  frequency = 'session',
  officeHoursOnly = false,
}: TriggerRules): string {
  const seconds = showAfterMs / 1000;
  const when = [
    ...(seconds > 0
      ? [`after ${new Intl.NumberFormat().format(seconds)} ${seconds === 1 ? 'second' : 'seconds'}`]
      : []),
    ...(scrollDepthPct > 0 ? [`after scrolling ${scrollDepthPct} % of the page`] : []),
    ...(exitIntent ? ['when the pointer leaves the page'] : []),
  ];
  return [
    `On ${urlMatch === undefined ? 'every page' : matchInWords(urlMatch)}`,
    when.length === 0 ? 'at once' : when.join(', then '),
    frequencyNames[frequency],
    ...(officeHoursOnly ? ['while you are open'] : []),
  ].join(', ');
}

/** "12 %"; a dash if there were no impressions. */
export function shareOf(part: number, whole: number): string {
  return whole === 0
    ? '–'
    : new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(part / whole);
}
