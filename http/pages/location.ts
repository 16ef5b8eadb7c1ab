// The address bar as signals, and functions to change it. Links are ordinary links; a click on one of ours changes the
// page without a reload.

import { computed, signal } from '@preact/signals';
import { pageAt } from './paths.ts';
import { onDocument, onWindow, type Stop, stopAll } from './subscriptions.ts';

const address = signal(here());

function here(): string {
  return location.pathname + location.search;
}

export const path = computed(() => new URL(address.value, location.origin).pathname);
export const query = computed(() => new URL(address.value, location.origin).searchParams);
/** Undefined for an address without a page. */
export const match = computed(() => pageAt(path.value));

export function navigate(to: string, options: { readonly replace?: boolean } = {}): void {
  if (to === address.value) return;
  try {
    if (options.replace === true) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
  } catch {
    // Browsers limit the rate of changes, for example while a search is typed; a later change updates the bar.
  }
  address.value = to.split('#')[0] ?? to;
}

/** Changes parts of the query and keeps the rest; undefined removes one. Adds no history entry. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(path.value + (text === '' ? '' : `?${text}`), { replace: true });
}

/**
 * Follows the browser's history, and clicks on links to these pages. New tabs, downloads and other sites are left to
 * the browser.
 */
export function startLocation(): Stop {
  return stopAll([
    onWindow('popstate', () => {
      address.value = here();
    }),
    onDocument('click', followLink),
  ]);
}

function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash !== '') return;
  if (pageAt(link.pathname) === undefined) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
