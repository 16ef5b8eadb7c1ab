// The agent's socket: what happens, as it happens. After a break it comes back with the last number it saw and is told
// what it missed, in order and once; where that is no longer kept, everybody who shows something reads it again. It
// never gives up while somebody is signed in.

import { effect, signal } from '@preact/signals';
import { keepToken, token } from './api.ts';
import type { LiveEvent } from './records.ts';
import { noteServerTime, setServerTime } from './server-clock.ts';

export type Connection = 'off' | 'connecting' | 'live' | 'waiting';

export const connection = signal<Connection>('off');
/** What is shown may be old: there was no connection, or there was one and it is not back yet. */
export const isCutOff = signal(false);

type Listener = (event: LiveEvent) => void;
const listeners = new Set<{ readonly types: ReadonlySet<string> | undefined; readonly tell: Listener }>();
const rereaders = new Set<() => void>();

const firstPauseMs = 500;
const maxPauseMs = 15_000;
/** A connection that says nothing for so long is asked whether it is there, and given up when it is not. */
const quietMs = 25_000;
/**
 * Where a connection may have died unheard, in a laptop that slept or on another network, it is given so long to
 * answer.
 */
const probeMs = 5000;
const signedOutCode = 4401;

let socket: WebSocket | undefined;
let lastSeq: number | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let quiet: ReturnType<typeof setTimeout> | undefined;

/** Calls `tell` with every event of these types, or of all. Answers how to stop. */
export function onEvent(types: readonly string[] | '*', tell: Listener): () => void {
  const entry = { types: types === '*' ? undefined : new Set(types), tell };
  listeners.add(entry);
  return () => void listeners.delete(entry);
}

/** Calls `reread` when events were missed that can no longer be told. Answers how to stop. */
export function onResync(reread: () => void): () => void {
  rereaders.add(reread);
  return () => void rereaders.delete(reread);
}

/**
 * Tells the others in a conversation that this agent types. Nothing while there is no connection: it would be old by
 * then.
 */
export function sendTyping(conversationId: string): void {
  if (connection.peek() === 'live') socket?.send(JSON.stringify({ type: 'typing', conversationId }));
}

/** Connects while somebody is signed in. Called once, by the app. */
export function goLive(): void {
  effect(() => {
    const current = token.value;
    disconnect();
    lastSeq = undefined;
    failures = 0;
    if (current !== null) connect(current);
    else {
      connection.value = 'off';
      isCutOff.value = false;
    }
  });
  addEventListener('online', checkNow);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') checkNow();
  });
}

/**
 * The network is back, or somebody looks: does not wait for a pause to end, and does not take a connection's word for
 * it.
 */
function checkNow(): void {
  if (connection.peek() === 'live' && socket !== undefined) probe(socket);
  else reconnectNow();
}

/** Does not wait for the pause to end. */
export function reconnectNow(): void {
  const current = token.peek();
  if (current === null || connection.peek() !== 'waiting') return;
  failures = 0;
  connect(current);
}

function connect(current: string): void {
  disconnect();
  connection.value = 'connecting';
  const url = new URL('/agent', location.origin);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (lastSeq !== undefined) url.searchParams.set('since', String(lastSeq));
  const opened = new WebSocket(url, ['messaging.v1', `bearer.${current}`]);
  socket = opened;
  listenForQuiet(opened);
  opened.onmessage = ({ data }) => {
    if (socket !== opened || typeof data !== 'string') return;
    listenForQuiet(opened);
    // A frame of the service's own, whose shape its document gives.
    take(JSON.parse(data) as LiveEvent);
  };
  opened.onclose = ({ code }) => {
    if (socket !== opened) return;
    disconnect();
    if (code === signedOutCode) {
      if (token.peek() === current) keepToken(null);
      return;
    }
    connection.value = 'waiting';
    isCutOff.value = true;
    failures += 1;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1));
    retry = setTimeout(() => connect(current), pauseMs * (0.5 + Math.random() / 2));
  };
}

function disconnect(): void {
  clearTimeout(retry);
  clearTimeout(quiet);
  const former = socket;
  socket = undefined;
  former?.close();
}

function listenForQuiet(opened: WebSocket): void {
  clearTimeout(quiet);
  quiet = setTimeout(() => probe(opened), quietMs);
}

/** Whatever it says is an answer; one that says nothing is given up, and the next attempt is told what was missed. */
function probe(opened: WebSocket): void {
  clearTimeout(quiet);
  if (opened.readyState === WebSocket.OPEN) opened.send('{"type":"ping"}');
  quiet = setTimeout(() => {
    if (socket === opened) opened.onclose?.(new CloseEvent('close', { code: 1006 }));
  }, probeMs);
}

function take(frame: LiveEvent): void {
  if (frame.type === 'ready') {
    failures = 0;
    connection.value = 'live';
    isCutOff.value = false;
    if (frame.at !== undefined) setServerTime(frame.at);
    lastSeq ??= frame.seq;
    return;
  }
  if (frame.type === 'pong' || frame.type === 'error' || frame.type === 'reply') return;
  if (frame.type === 'resync') {
    lastSeq = frame.seq ?? undefined;
    for (const reread of rereaders) alone(reread);
    return;
  }
  if (frame.at !== undefined) noteServerTime(frame.at);
  if (frame.seq !== undefined) {
    if (lastSeq !== undefined && frame.seq <= lastSeq) return;
    lastSeq = frame.seq;
  }
  for (const { types, tell } of listeners) if (types === undefined || types.has(frame.type)) alone(() => tell(frame));
}

/** Nothing is told twice: what one listener cannot take must not keep it from the others. */
function alone(run: () => void): void {
  try {
    run();
  } catch (error) {
    reportError(error);
  }
}
