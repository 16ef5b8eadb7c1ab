// Tests a URL condition before a campaign or a goal uses it. Specification 4.4, 4.15.

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
    summary: 'Test a URL condition',
    description:
      'Tests whether a page at this address matches the condition of a campaign or a goal. ' +
      'Encoded characters are compared in decoded form (`/caf%C3%A9` is `/café`), hosts regardless of case. ' +
      '`equals` and `ends-with` ignore tracking parameters, a fragment and a trailing slash of the path, ' +
      'unless the condition contains them. ' +
      'Nothing is stored.',
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
