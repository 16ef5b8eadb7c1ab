// A campaign on the screen: its text and quick replies. It does not take the focus; a screen reader announces it
// politely.

import { button, h, icon, linked, webAddress } from './dom.ts';
import { messageFrom } from './message-list.ts';
import type { Campaign, QuickReply } from './protocol.ts';
import type { Wording } from './strings.ts';

export interface CampaignCardOptions {
  readonly campaign: Campaign;
  readonly wording: Wording;
  readonly siteName: string;
  /** The visitor starts a conversation, with the words of a quick reply if it chose one. */
  start(words: string | undefined): void;
  /** The visitor follows a link of the campaign. */
  leave(address: string): void;
  dismiss(): void;
}

export function campaignCard(options: CampaignCardOptions): HTMLElement {
  const { campaign, wording, siteName } = options;
  const { body, agentName, agentAvatarUrl, quickReplies = [] } = campaign.content;
  const { strings } = wording;
  const name = agentName ?? siteName;
  const avatar = agentAvatarUrl === undefined ? undefined : webAddress(agentAvatarUrl);
  const head = h(
    'div',
    { class: 'who' },
    avatar === undefined ? undefined : h('img', { src: avatar, alt: '' }),
    h('strong', {}, h('bdi', {}, name)),
  );
  const replies = quickReplies.map((reply) => button({ class: 'reply' }, h('bdi', {}, reply.label), () => act(reply)));
  const talk = replies.length > 0 ? [] : [button({ class: 'reply' }, strings.open, () => options.start(undefined))];

  function act(reply: QuickReply): void {
    switch (reply.action) {
      case 'start-chat':
        options.start(reply.label);
        return;
      case 'navigate': {
        const address = webAddress(reply.value ?? '');
        if (address !== undefined) options.leave(address);
        return;
      }
      case 'dismiss':
        options.dismiss();
    }
  }

  return h(
    'section',
    { class: 'campaign', role: 'region', 'aria-label': messageFrom(name, wording) },
    head,
    h('p', { class: 'said' }, linked(body)),
    h('div', { class: 'replies' }, ...replies, ...talk),
    button({ class: 'plain small dismiss', 'aria-label': strings.dismiss }, icon('close'), () => options.dismiss()),
  );
}
