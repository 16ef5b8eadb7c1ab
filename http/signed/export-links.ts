// Signed links to report exports: requested by whom, for what, until when. Nothing is stored. Anyone with the link gets
// the file, so it is valid for 15 minutes and has the rights of the agent that made it.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Asker } from './asker.ts';

/** The content of a link. Times are in ms. */
export interface ExportOrder {
  /** The file is made with the rights that they have when it is opened. */
  readonly asker: Asker;
  readonly type: string;
  readonly format: 'csv' | 'json';
  readonly expiresMs: number;
  /** The report's query, with the range that it had when the link was made. */
  readonly query: Readonly<Record<string, string>>;
}

export interface ExportLinks {
  issue(order: ExportOrder): string;
  /** Undefined for a link that we did not sign. It may have expired. */
  verify(token: string): ExportOrder | undefined;
}

export function createExportLinks(secret: string): ExportLinks {
  const sign = (text: string): string =>
    createHmac('sha256', secret).update(`export-order:${text}`).digest('base64url');
  return {
    issue(order) {
      const text = Buffer.from(JSON.stringify(order)).toString('base64url');
      return `${text}.${sign(text)}`;
    },
    verify(token) {
      const [text = '', given = ''] = token.split('.');
      const [a, b] = [Buffer.from(given), Buffer.from(sign(text))];
      if (a.length !== b.length || !timingSafeEqual(a, b)) return undefined;
      // Only issue() signs these.
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as ExportOrder;
    },
  };
}
