// Conditions on addresses as text.

import type { UrlMatch } from '../../records.ts';

export const operatorNames: Readonly<Record<UrlMatch['operator'], string>> = {
  contains: 'contains',
  'starts-with': 'begins with',
  'ends-with': 'ends with',
  equals: 'is exactly',
  regex: 'matches the expression',
};

export function matchInWords({ operator, value }: UrlMatch): string {
  return `pages whose address ${operatorNames[operator]} “${value}”`;
}
