// Trying a condition on addresses before a campaign or a goal has it. Specification 4.4, 4.15.

import Type from 'typebox';
import { requireUrlMatch, urlPattern } from '../../engine/growth/url-patterns.ts';
import { route } from '../route.ts';
import { UrlMatch } from '../schemas/shared.ts';

export const urlMatchRoutes = [
  route({
    operation: 'urlMatch.try',
    method: 'POST',
    path: '/url-match',
    tag: 'Goals',
    summary: 'Try a condition on an address',
    description:
      'Whether a page at this address would meet the condition of a campaign or a goal. Encoded letters are compared as people read them (`/caf%C3%A9` is `/café`), hosts in any case. `equals` and `ends-with` look past tracking parameters, a fragment and a slash at the end of the path, unless the condition has them. Nothing is kept.',
    access: { kind: 'agent', scope: null },
    body: Type.Object({
      condition: UrlMatch,
      url: Type.String({ minLength: 1, maxLength: 2048, description: 'As the browser shows it.' }),
    }),
    reply: { status: 200, schema: Type.Object({ matches: Type.Boolean() }) },
    refusals: [],
    read(_, { body: { condition, url } }) {
      requireUrlMatch(condition, 'condition');
      return { matches: urlPattern(condition).matches(url) };
    },
  }),
];
