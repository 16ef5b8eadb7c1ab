// What runs once the inbox has been opened, on other pages too: threads stay current and what was written is sent.

import { type Stop, startAll } from '../subscriptions.ts';
import { startComposedFiles } from './composed-files.ts';
import { startDrafts } from './mail/mail-drafts.ts';
import { startOutgoing } from './outgoing.ts';
import { startSavedReplies } from './saved-replies.ts';
import { startThreads } from './threads.ts';
import { startTyping } from './typing.ts';

export function startInbox(): Stop {
  return startAll([startThreads, startOutgoing, startTyping, startComposedFiles, startSavedReplies, startDrafts]);
}
