// The app, created once per page by the install script. It starts or resumes the visit and connects the parts. Until the
// visitor opens the panel or has a conversation, it makes one call per page and opens no socket.

import { Api, backoffMs, CallFailed } from './api.ts';
import { Campaigns } from './campaigns.ts';
import { Chat } from './chat.ts';
import { detached, later, report } from './guard.ts';
import type { Campaign } from './protocol.ts';
import { BrowserStorage } from './storage.ts';
import { wordingFor } from './strings.ts';
import { onPageChange, Visit } from './visit.ts';
import { ChatWindow } from './window.ts';

/** The path of the file of articles below the service's address, inserted by the build. */
declare const articlesPath: string;

export interface MountOptions {
  /** The service's address, with a trailing slash. */
  readonly base: string;
  /** The site's embed id. */
  readonly siteId: string;
  readonly locale: string | undefined;
}

export interface Person {
  readonly name?: string;
  readonly email?: string;
  /** The site's signature of the email. */
  readonly signature?: string;
}

export interface App {
  open(): void;
  close(): void;
  identify(person: Person): Promise<void>;
}

/** Resolves when the launcher is shown. Rejects if the service does not know the site, or refuses this page's origin. */
export async function mount({ base, siteId, locale }: MountOptions): Promise<App> {
  const prefix = `switchboard:${siteId}:`;
  const storage = new BrowserStorage('localStorage', prefix);
  const tabStorage = new BrowserStorage('sessionStorage', prefix);
  const api = new Api(base);
  const visit = new Visit({ api, storage, siteId });
  let pages = 0;
  /** Undefined if another page was opened in the meantime, which makes its own call. */
  const viewPage = async (): Promise<readonly Campaign[] | undefined> => {
    const page = (pages += 1);
    const offered = await untilAnswered(() => visit.view(), { isWanted: () => page === pages });
    return page === pages ? offered : undefined;
  };
  const offered = await viewPage();

  const chat: Chat = new Chat({ api, visit, storage, base, siteId, onChange: () => chatWindow.draw() });
  const campaigns = new Campaigns({
    api,
    mayShow: () => !chatWindow.isOpen && !chatWindow.isBare && !isTalking(chat),
    show: (campaign) => chatWindow.offer(campaign),
  });
  const wording = wordingFor([locale, document.documentElement.lang, ...navigator.languages]);
  const chatWindow: ChatWindow = new ChatWindow({
    api,
    chat,
    visit,
    storage: tabStorage,
    keptStorage: storage,
    wording,
    addArticles: (panel) =>
      detached(
        import(base + articlesPath).then(({ attach }) =>
          attach({ panel, api, wording, draw: () => chatWindow.draw() }),
        ),
      ),
    reportCampaign: (campaign, type) => campaigns.report(campaign, type),
  });
  chat.begin();
  chatWindow.draw();
  if (visit.isAnswering) chatWindow.open();
  else campaigns.offer(offered ?? []);

  onPageChange(async () => {
    chatWindow.turnPage();
    campaigns.offer([]);
    const fitting = await viewPage();
    if (fitting !== undefined) campaigns.offer(fitting);
  });

  return {
    open: () => chatWindow.open(),
    close: () => chatWindow.close(),
    identify: async ({ name, email, signature }) => {
      await visit.identify({
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        ...(signature === undefined ? {} : { signature }),
      });
      chatWindow.draw();
    },
  };
}

/** Campaigns do not interrupt a conversation. */
function isTalking({ conversation }: Chat): boolean {
  return conversation !== null && (conversation.status === 'open' || conversation.status === 'pending');
}

async function untilAnswered(
  ask: () => Promise<readonly Campaign[]>,
  { isWanted }: { isWanted: () => boolean },
): Promise<readonly Campaign[]> {
  for (let attempt = 0; isWanted(); attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CallFailed) || !error.mayPass) throw error;
      report(error);
      const { retryAfterMs = backoffMs(attempt) } = error;
      await new Promise<void>((resolve) => later(retryAfterMs, resolve));
    }
  }
  return [];
}
