// The line that brings the widget onto a page of a customer's site.

import type { Site } from './records.ts';

export function snippetOf(site: Pick<Site, 'embedId'>): string {
  return `<script src="${location.origin}/widget.js" data-site-id="${site.embedId}" async></script>`;
}
