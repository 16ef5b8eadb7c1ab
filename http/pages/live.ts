// What happens in the workspace, as it happens: the agent's socket while someone is signed in, and who follows which
// events. After a break the socket delivers what was missed; where the server no longer has that, everything that is
// shown is read again.

import { effect, signal } from '@preact/signals';
import { keepToken, token } from './api.ts';
import { type Connection, LiveSocket, type OpenSocket } from './live-socket.ts';
import type { LiveEvent } from './records.ts';
import { noteServerTime, setServerTime } from './server-clock.ts';
import { onDocument, onWindow, type Stop, stopAll } from './subscriptions.ts';

export const connection = signal<Connection>('off');
/** What is shown may be out of date: the connection was lost and is not back yet. */
export const isCutOff = signal(false);

type Listener = (event: LiveEvent) => void;
const listeners = new Set<{ readonly types: ReadonlySet<string> | undefined; readonly notify: Listener }>();
const rereaders = new Set<() => void>();

const socket = new LiveSocket({
  changed: (now) => {
    connection.value = now;
    if (now === 'waiting') isCutOff.value = true;
    else if (now !== 'connecting') isCutOff.value = false;
  },
  ready: ({ at }) => {
    if (at !== undefined) setServerTime(at);
  },
  received: (event) => {
    if (event.at !== undefined) noteServerTime(event.at);
    for (const { types, notify } of listeners)
      if (types === undefined || types.has(event.type)) contain(() => notify(event));
  },
  resynced: () => {
    for (const reread of rereaders) contain(reread);
  },
  signedOut: () => keepToken(null),
});

/** Calls `notify` with every event of these types, or with all. */
export function onEvent(types: readonly string[] | '*', notify: Listener): Stop {
  const entry = { types: types === '*' ? undefined : new Set(types), notify };
  listeners.add(entry);
  return () => void listeners.delete(entry);
}

/** Calls `reread` when events were missed that the server no longer has. */
export function onResync(reread: () => void): Stop {
  rereaders.add(reread);
  return () => void rereaders.delete(reread);
}

/** Shows others in a conversation that this agent is typing. Does nothing without a connection. */
export function sendTyping(conversationId: string): void {
  socket.send({ type: 'typing', conversationId });
}

/** Connects while someone is signed in. */
export function goLive(): Stop {
  return stopAll([
    () => socket.stop(),
    effect(() => {
      const current = token.value;
      if (current === null) socket.stop();
      else socket.start(openAs(current));
    }),
    onWindow('online', () => socket.checkNow()),
    onDocument('visibilitychange', () => {
      if (document.visibilityState === 'visible') socket.checkNow();
    }),
  ]);
}

/** Ends the pause before the next attempt to connect. */
export function reconnectNow(): void {
  socket.reconnectNow();
}

function openAs(bearer: string): OpenSocket {
  return (since) => {
    const url = new URL('/agent', location.origin);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (since !== undefined) url.searchParams.set('since', String(since));
    return new WebSocket(url, ['messaging.v1', `bearer.${bearer}`]);
  };
}

/** An event is delivered once, so one listener's failure must not keep it from the others. */
function contain(run: () => void): void {
  try {
    run();
  } catch (error) {
    reportError(error);
  }
}
