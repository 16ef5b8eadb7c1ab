// Push to this browser while no page is open. The agent turns it on; until then no push service is asked for anything.
// The choice is kept for the agent in this browser, and the server forgets the browser when the agent signs out.

import { effect, signal } from '@preact/signals';
import { call } from './api.ts';
import { navigate } from './location.ts';
import { permission } from './notifications.ts';
import { me } from './session.ts';
import { type Stop, stopAll } from './subscriptions.ts';

const keptAs = 'switchboard.push';
const workerPath = '/service-worker.js';

interface Subscribed {
  readonly publicKey: string;
  readonly subscriptions: readonly { readonly id: string; readonly endpoint: string }[];
}

export const canPush =
  typeof navigator !== 'undefined' &&
  'serviceWorker' in navigator &&
  typeof PushManager !== 'undefined' &&
  typeof Notification !== 'undefined';

/** Whether this browser is pushed to for the agent who is signed in. */
export const isPushed = signal(false);

/** Asks for permission if needed. Rejects if the browser or its push service refuses. */
export async function setPushed(on: boolean): Promise<void> {
  const agentId = me.peek()?.agent.id;
  if (agentId === undefined) return;
  if (on) {
    permission.value = await Notification.requestPermission();
    if (permission.peek() !== 'granted') throw new Error('Your browser does not allow notifications from this site.');
    await subscribe();
  } else await unsubscribe();
  keep(on ? agentId : undefined);
  isPushed.value = on;
}

async function subscribe(): Promise<void> {
  const { publicKey, subscriptions } = await call<Subscribed>('GET', '/me/push');
  const { pushManager } = await registered();
  let present = await pushManager.getSubscription();
  // Of another workspace's key: it can only be replaced.
  if (present !== null && keyOf(present) !== publicKey) {
    await present.unsubscribe();
    present = null;
  }
  const subscription =
    present ?? (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }));
  if (!subscriptions.some(({ endpoint }) => endpoint === subscription.endpoint))
    await call('POST', '/me/push', { body: subscription.toJSON() });
}

async function unsubscribe(): Promise<void> {
  const subscription = await (await registered()).pushManager.getSubscription();
  const { subscriptions } = await call<Subscribed>('GET', '/me/push');
  const known = subscriptions.find(({ endpoint }) => endpoint === subscription?.endpoint);
  if (known !== undefined) await call('DELETE', `/me/push/${known.id}`);
  await subscription?.unsubscribe();
}

/** Repeats what the agent chose: the browser or the server may have lost the subscription. */
export function startPush(): Stop {
  if (!('serviceWorker' in navigator)) return () => undefined;
  const follow = ({ data }: MessageEvent): void => {
    // Only our service worker posts to its pages.
    const { type, url } = data as { type?: string; url?: string };
    if (type === 'open' && url !== undefined) navigate(url);
  };
  navigator.serviceWorker.addEventListener('message', follow);
  let agentId: string | undefined;
  return stopAll([
    () => navigator.serviceWorker.removeEventListener('message', follow),
    effect(() => {
      const next = me.value?.agent.id;
      if (next === agentId) return;
      agentId = next;
      isPushed.value = false;
      if (next === undefined) return;
      // Makes the pages installable; without it only push is missing.
      registered().catch(() => undefined);
      if (!canPush || kept() !== next || Notification.permission !== 'granted') return;
      subscribe().then(
        () => (isPushed.value = me.peek()?.agent.id === next),
        () => undefined,
      );
    }),
  ]);
}

let registering: Promise<ServiceWorkerRegistration> | undefined;

function registered(): Promise<ServiceWorkerRegistration> {
  registering ??= navigator.serviceWorker
    .register(trusted(workerPath))
    .then(() => navigator.serviceWorker.ready)
    .catch((error: unknown) => {
      registering = undefined;
      throw error;
    });
  return registering;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** The pages' policy takes a script's address only from a named rule, in browsers that know of it. */
function trusted(path: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return (
    trustedTypes?.createPolicy('service-worker', { createScriptURL: () => workerPath }).createScriptURL(path) ?? path
  );
}

function keyOf({ options }: PushSubscription): string {
  return btoa(String.fromCharCode(...new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function kept(): string | null {
  try {
    return localStorage.getItem(keptAs);
  } catch {
    return null;
  }
}

function keep(agentId: string | undefined): void {
  try {
    if (agentId === undefined) localStorage.removeItem(keptAs);
    else localStorage.setItem(keptAs, agentId);
  } catch {
    // Until the page is reloaded.
    return;
  }
}
