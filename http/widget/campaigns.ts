// When a campaign shows. The service chooses those that fit the page, the hour and the visitor. This file checks what only
// the browser knows: time on the page, scroll depth, and the pointer leaving it. A campaign shows when all its conditions
// are met, at most one per page view.

import type { Api } from './api.ts';
import { detached, guarded, later } from './guard.ts';
import type { Campaign } from './protocol.ts';

export interface CampaignsOptions {
  readonly api: Api;
  /** False if it would interrupt, for example a conversation. */
  mayShow(): boolean;
  show(campaign: Campaign): void;
}

export class Campaigns {
  readonly #options: CampaignsOptions;
  /** Aborts what waits for the previous page. */
  #waiting = new AbortController();

  constructor(options: CampaignsOptions) {
    this.#options = options;
  }

  /** The campaigns for the current page, in order of priority. */
  offer(campaigns: readonly Campaign[]): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    for (const campaign of campaigns) detached(this.#wait(campaign, signal));
  }

  report(campaign: Campaign, type: 'impression' | 'click' | 'dismiss'): void {
    detached(this.#options.api.call('POST', 'campaign-events', { campaignId: campaign.id, type }));
  }

  async #wait(campaign: Campaign, signal: AbortSignal): Promise<void> {
    const { showAfterMs = 0, scrollDepthPct = 0, exitIntent = false } = campaign.triggerRules;
    if (showAfterMs > 0) await new Promise<void>((resolve) => later(showAfterMs, resolve));
    if (scrollDepthPct > 0) await scrolledTo(scrollDepthPct, signal);
    if (exitIntent) await pointerLeft(signal);
    if (signal.aborted || !this.#options.mayShow()) return;
    this.#waiting.abort();
    this.#options.show(campaign);
    this.report(campaign, 'impression');
  }
}

/** How much of the page is above the window's lower edge, in percent. */
function depthPct(): number {
  const { scrollTop, clientHeight, scrollHeight } = document.documentElement;
  return (100 * (scrollTop + clientHeight)) / Math.max(scrollHeight, 1);
}

function scrolledTo(wantedPct: number, signal: AbortSignal): Promise<void> {
  // Some screens lose half a pixel.
  const isReached = (): boolean => depthPct() >= wantedPct - 0.5;
  return new Promise((resolve) => {
    if (isReached()) resolve();
    else
      window.addEventListener(
        'scroll',
        guarded(() => isReached() && resolve()),
        { passive: true, signal },
      );
  });
}

/** Through the upper edge, towards the tabs and the address bar. */
function pointerLeft(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener(
      'mouseout',
      guarded((event: MouseEvent) => event.relatedTarget === null && event.clientY <= 0 && resolve()),
      { signal },
    );
  });
}
