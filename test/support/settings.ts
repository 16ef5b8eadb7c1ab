// Shared by the tests of the settings pages: a name with markup in it, names for parts of a page, and accessibility
// checks.

import type { Locator, Page } from 'playwright-core';
import { barriersOf } from './pages.ts';

export const hostile = '<img src=x onerror=alert(1)> & "Co"';

export const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });
export const heading = (page: Page | Locator, name: string): Locator =>
  page.getByRole('heading', { name, exact: true });
export const part = (page: Page, name: string | RegExp): Locator => page.getByRole('region', { name });
export const notice = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('.notice', { hasText: text }).first().waitFor();

/** Checks accessibility in both themes. The themes differ only in their colours. */
export async function usable(t: Pick<typeof import('tap').default, 'strictSame'>, page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  t.strictSame(await barriersOf(page, 'color-contrast'), [], `${page.url()}, dark`);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  t.strictSame(await barriersOf(page), [], page.url());
}
