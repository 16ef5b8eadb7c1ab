// The line that adds the widget to a customer's page.

import type { Site } from './records.ts';

export function snippetOf(site: Pick<Site, 'embedId'>): string {
  return `<script src="${location.origin}/widget.js" data-site-id="${site.embedId}" async></script>`;
}
