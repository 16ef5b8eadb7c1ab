// The addresses of the pages: one list from which the service answers and the browser chooses. `{name}` is one part of
// a path.

export const pagePaths = {
  start: '/',
  signIn: '/sign-in',
  register: '/register',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  join: '/join/{code}',
  welcome: '/welcome',
  inbox: '/inbox',
  inboxList: '/inbox/{list}',
  conversation: '/inbox/{list}/{conversationId}',
  calls: '/calls',
  call: '/calls/{conversationId}',
  contacts: '/contacts',
  contact: '/contacts/{contactId}',
  search: '/search',
  reports: '/reports',
  report: '/reports/{report}',
  settings: '/settings',
  settingsSection: '/settings/{section}',
  settingsItem: '/settings/{section}/{item}',
  account: '/account',
  billing: '/billing',
} as const;

export type PageName = keyof typeof pagePaths;

export interface PageMatch {
  readonly page: PageName;
  readonly params: Readonly<Record<string, string>>;
}

const matchers = Object.entries(pagePaths).map(([page, path]) => ({
  // Object.entries returns keys as strings.
  page: page as PageName,
  pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`),
}));

/** Undefined if there is no page. */
export function pageAt(path: string): PageMatch | undefined {
  for (const { page, pattern } of matchers) {
    const match = pattern.exec(path);
    if (match === null) continue;
    try {
      return {
        page,
        params: Object.fromEntries(
          Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
        ),
      };
    } catch {
      // A malformed percent escape.
      return undefined;
    }
  }
  return undefined;
}
