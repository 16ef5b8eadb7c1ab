// The main thread's side of the thread that reads what agents open in mails: calendars, and the addresses of pictures.
// It reads one thing at a time, workspaces in turn, so that one that takes too long fails alone. What waits holds no text:
// it is read from its file or its row when its turn comes.

import { SenderTurns } from '../sender-turns.ts';
import { createThread, ThreadBusy, ThreadFailed } from '../thread.ts';
import type { CalendarReading } from './calendar.ts';
import type { Written } from './display.ts';
import type { methods } from './opened-mails-thread.ts';

/**
 * Calls reject with ThreadBusy, or with the error of `read`, which is called when its turn comes. What takes too long has
 * nothing in it, nor has what is not there by then (undefined), which is looked for again by the next call.
 */
export interface OpenedMails {
  /**
   * The addresses of a mail's pictures elsewhere: the first is that of `<img data-picture="1">` in its display form. A
   * mail never changes, so it is read once.
   */
  pictures(mail: {
    readonly workspaceId: string;
    readonly mailId: string;
    readonly read: () => Written | undefined;
  }): Promise<readonly string[]>;
  /** The events in a calendar file, of at most some hundred kilobytes. A file never changes, either. */
  calendar(file: {
    readonly workspaceId: string;
    readonly key: string;
    readonly read: () => Promise<Uint8Array | undefined>;
  }): Promise<CalendarReading>;
  stop(): Promise<void>;
}

/** A sound one takes milliseconds, one of the longest mails a third of a second, and the thread itself a tenth. */
const timeoutMs = 5000;
const heapMb = { young: 4, old: 64 };
/** An agent who reads opens the next mail within this, or reads on. */
const idleMs = 10_000;
/** A conversation of many invitations asks for all of them. */
const limits = { atOnce: 1, atOncePerSender: 1, perSender: 13, waiting: 40 };
/** The addresses of one mail have at most 400,000 characters. */
const maxKept = 50;
/** Until what failed is tried again. */
const failedMs = 60_000;

export function createOpenedMails(): OpenedMails {
  const thread = createThread<typeof methods>({
    file: 'workers/mail/opened-mails-thread.ts',
    title: 'opened mails',
    maxWaiting: limits.atOnce,
    timeoutMs,
    heapMb,
    idleMs,
  });
  const turns = new SenderTurns(limits);
  const inTurn = <Result>(workspaceId: string, read: () => Promise<Result>): Promise<Result> =>
    turns.take(workspaceId, read) ?? Promise.reject(new ThreadBusy('too many opened mails wait to be read'));
  const addresses = keptReadings<readonly string[]>([]);
  const calendars = keptReadings<CalendarReading>({ events: [], more: 0 });
  return {
    pictures: ({ workspaceId, mailId, read }) =>
      addresses(`${workspaceId} ${mailId}`, () =>
        inTurn(workspaceId, async () => {
          const mail = read();
          return mail && thread.call('pictures', mail);
        }),
      ),
    calendar: ({ workspaceId, key, read }) =>
      calendars(`${workspaceId} ${key}`, () =>
        inTurn(workspaceId, async () => {
          const bytes = await read();
          return bytes && thread.call('calendar', bytes);
        }),
      ),
    stop: () => thread.stop(),
  };
}

interface Kept<Result> {
  readonly result: Promise<Result>;
  failedAtMs: number;
}

/** Reads a thing once, also one that takes too long: it has nothing in it for a while. */
function keptReadings<Result>(
  nothing: Result,
): (key: string, read: () => Promise<Result | undefined>) => Promise<Result> {
  const kept = new Map<string, Kept<Result>>();
  const begin = (key: string, read: () => Promise<Result | undefined>): Kept<Result> => {
    const forget = (): void => {
      if (kept.get(key) === one) kept.delete(key);
    };
    const result = read().then(
      (found) => {
        if (found === undefined) forget();
        return found ?? nothing;
      },
      (error: unknown) => {
        if (!(error instanceof ThreadFailed)) {
          // It had no place: the next one who asks may have one.
          forget();
          throw error;
        }
        one.failedAtMs = performance.now();
        return nothing;
      },
    );
    const one = { result, failedAtMs: Number.POSITIVE_INFINITY };
    return one;
  };
  return (key, read) => {
    const known = kept.get(key);
    const one = known !== undefined && performance.now() - known.failedAtMs < failedMs ? known : begin(key, read);
    // The last one read is the last one forgotten.
    kept.delete(key);
    kept.set(key, one);
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
    return one.result;
  };
}
