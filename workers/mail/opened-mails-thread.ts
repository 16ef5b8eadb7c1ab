// The thread that reads what agents open in mails. Its texts and files are strangers', and may be made to be slow, so it gives way to
// everything else.

import { answerCalls, giveWay } from '../thread.ts';
import { type CalendarReading, readCalendar } from './calendar.ts';
import { picturesOf, type Written } from './display.ts';

export const methods = {
  pictures: (mail: Written): readonly string[] => picturesOf(mail),

  calendar: (bytes: Uint8Array): Promise<CalendarReading> => readCalendar(bytes),
};

giveWay();
answerCalls(methods);
