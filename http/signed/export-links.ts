// Signed addresses of report exports: who asked, for what, until when. Nothing is stored; whoever has the address gets
// the file, so it is good for a quarter of an hour and acts as the agent that made it.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Asker } from './asker.ts';

/** What a link stands for. Times in ms. */
export interface ExportOrder {
  /** Whose rights the file is made with, as they are then. */
  readonly asker: Asker;
  readonly type: string;
  readonly format: 'csv' | 'json';
  readonly expiresMs: number;
  /** The report's query, with the range that it had when the link was made. */
  readonly query: Readonly<Record<string, string>>;
}

export interface ExportLinks {
  issue(order: ExportOrder): string;
  /** Undefined for what is not a link of ours. It may have run out. */
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
      // Signed by issue() alone.
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as ExportOrder;
    },
  };
}
