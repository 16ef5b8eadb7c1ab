// Writes calls. Apart from calls.ts, because the threads that read need no schema at run time.

import { table } from '../table.ts';
import { CallRecord } from './records.ts';

const fixed = ['phoneNumberId', 'carrierCallId', 'fromE164', 'toE164', 'isRecorded', 'createdAt'] as const;

export const {
  unset: unsetCall,
  insert: insertCall,
  update: updateCall,
} = table('call', CallRecord, { key: 'conversationId', fixed });

export type CallChanges = Partial<Omit<CallRecord, 'conversationId' | (typeof fixed)[number]>>;
