import t from 'tap';
import { Router } from '../../http/pipeline/router.ts';
import type { Method } from '../../http/route.ts';

function routerOf(...routes: [Method, string][]): Router<string> {
  const router = new Router<string>();
  for (const [method, path] of routes) router.add({ method, path }, `${method} ${path}`);
  return router;
}

t.test('a path leads to its route, with its parameters decoded', async (t) => {
  const router = routerOf(
    ['GET', '/agents'],
    ['GET', '/agents/{agentId}'],
    ['DELETE', '/agents/{agentId}'],
    ['POST', '/agents/invite'],
    ['GET', '//join/{code}'],
    ['DELETE', '/conversations/{conversationId}/notes/{noteId}'],
    ['PATCH', '/conversations/{conversationId}/notes/working'],
  );
  const rows: [string, string, string, Record<string, string>][] = [
    ['GET', '/api/v1/agents', 'GET /agents', {}],
    ['GET', '/api/v1/agents/7', 'GET /agents/{agentId}', { agentId: '7' }],
    ['DELETE', '/api/v1/agents/7', 'DELETE /agents/{agentId}', { agentId: '7' }],
    ['POST', '/api/v1/agents/invite', 'POST /agents/invite', {}],
    ['GET', '/join/a%2Fb', 'GET //join/{code}', { code: 'a/b' }],
    [
      'DELETE',
      '/api/v1/conversations/1/notes/2',
      'DELETE /conversations/{conversationId}/notes/{noteId}',
      { conversationId: '1', noteId: '2' },
    ],
    [
      'PATCH',
      '/api/v1/conversations/1/notes/working',
      'PATCH /conversations/{conversationId}/notes/working',
      { conversationId: '1' },
    ],
  ];
  for (const [method, path, entry, params] of rows)
    t.same(router.find(method, path), { kind: 'found', entry, params }, `${method} ${path}`);
});

t.test('a path without a route', async (t) => {
  const router = routerOf(['GET', '/agents'], ['GET', '/agents/{agentId}'], ['GET', '/agents/{agentId}/a']);
  for (const path of [
    '/',
    '',
    '/api/v1',
    '/api/v1/',
    '/api/v1/agents/',
    '/api/v1//agents',
    '/api/v1/agents/1/',
    '/api/v1/agents/1/b',
    '/api/v1/agents/1/a/b',
    '/agents',
    '/API/v1/agents',
    '/api/v1/agents/%zz',
    '/api/v1/%61gents',
  ]) {
    t.same(router.find('GET', path), { kind: 'none' }, path);
  }
});

t.test('a path with other methods names them', async (t) => {
  const router = routerOf(['GET', '/a/{id}'], ['DELETE', '/a/{id}'], ['POST', '/a/b']);
  t.same(router.find('PUT', '/api/v1/a/1'), { kind: 'otherMethods', methods: ['GET', 'DELETE'] });
  t.same(
    router.find('GET', '/api/v1/a/b'),
    { kind: 'otherMethods', methods: ['POST'] },
    'a literal wins over a parameter',
  );
});

t.test('a path that only begins like a literal matches a parameter', async (t) => {
  const router = routerOf(['GET', '/a/b/c'], ['GET', '/a/{id}/d']);
  t.same(router.find('GET', '/api/v1/a/b/d'), { kind: 'found', entry: 'GET /a/{id}/d', params: { id: 'b' } });
});

t.test('two routes of one method and path do not start', async (t) => {
  t.throws(() => routerOf(['GET', '/a/{x}'], ['GET', '/a/{y}']), /two routes/);
});
