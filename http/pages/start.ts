// What runs on every page, from sign-in to calls. The order does not matter to any of them.

import { startTokenSharing } from './api.ts';
import { startLiveCalls } from './calls/live-calls.ts';
import { startNumbers } from './calls/numbers.ts';
import { listenForKeys } from './commands.ts';
import { startConversations } from './inbox/conversations.ts';
import { startCounts } from './inbox/counts.ts';
import { startCustomers } from './inbox/customers.ts';
import { startLists } from './inbox/lists.ts';
import { startOffers } from './inbox/panel/standing-offers.ts';
import { startViews } from './inbox/views.ts';
import { goLive } from './live.ts';
import { startLocation } from './location.ts';
import { startNotifyChoice } from './notify-choice.ts';
import { startPeople } from './people.ts';
import { startPush } from './push.ts';
import { startSession } from './session.ts';
import { stayWhileWorking } from './session-refresh.ts';
import { type Stop, startAll } from './subscriptions.ts';
import { startTimes } from './times.ts';
import { startTitle } from './title.ts';
import { startVisibility } from './visibility.ts';

export function startPages(): Stop {
  return startAll([
    startLocation,
    listenForKeys,
    startTimes,
    startTitle,
    startVisibility,
    startTokenSharing,
    stayWhileWorking,
    goLive,
    startSession,
    startNotifyChoice,
    startPush,
    startPeople,
    startConversations,
    startViews,
    startLists,
    startCounts,
    startCustomers,
    startOffers,
    startLiveCalls,
    startNumbers,
  ]);
}
