// Calls over sockets as fast as they are answered, with a fixed number in progress on each. Replies arrive in the order
// of the calls, so the caller only has to recognise a reply.

import { percentile } from './frame.ts';
import type { SocketClient } from './socket-client.ts';

/** A socket that sends on request. */
export interface Caller {
  readonly client: SocketClient;
  callText(): string;
  /** The status of this frame; undefined if it is not a reply. */
  statusOf(payload: Buffer): number | undefined;
}

export interface SocketLoad {
  readonly callers: readonly Caller[];
  /** On each socket. */
  readonly callsUnderWay: number;
  readonly seconds: number;
}

export interface SocketFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
  /** Failures: the number by status, and of closed sockets. */
  readonly failures: Readonly<Record<string, number>>;
}

const replyType = '"type":"reply"';

/** The status in a reply frame of the service. */
export function replyStatus(payload: Buffer): number | undefined {
  if (!payload.includes(replyType)) return undefined;
  return Number(/"status":(\d+)/.exec(payload.toString('latin1'))?.[1]);
}

/** Keeps this many calls in progress on every socket. */
export async function loadBySockets({ callers, callsUnderWay, seconds }: SocketLoad): Promise<SocketFigures> {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  const fail = (what: string): void => {
    failures[what] = (failures[what] ?? 0) + 1;
  };
  const startedMs = performance.now();
  let stopped = false;
  await Promise.all(
    callers.map(
      (caller) =>
        new Promise<void>((resolve) => {
          const sentMs: number[] = [];
          const send = (): void => {
            sentMs.push(performance.now());
            caller.client.send(caller.callText());
          };
          caller.client.onClose = () => {
            fail('socket closed');
            resolve();
          };
          caller.client.onText = (payload) => {
            const status = caller.statusOf(payload);
            if (status === undefined) return;
            const tookMs = performance.now() - (sentMs.shift() ?? Number.NaN);
            if (status < 300) latenciesMs.push(tookMs);
            else fail(String(status));
            if (!stopped) send();
            else if (sentMs.length === 0) {
              caller.client.onClose = () => {};
              resolve();
            }
          };
          for (let index = 0; index < callsUnderWay; index += 1) send();
          setTimeout(() => {
            stopped = true;
          }, seconds * 1000);
        }),
    ),
  );
  const perSecond = latenciesMs.length / ((performance.now() - startedMs) / 1000);
  return {
    perSecond,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    answers: latenciesMs.length,
    failures,
  };
}
