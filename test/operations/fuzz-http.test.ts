// Invalid requests to every operation: a few of a fixed seed each, and by name those that once found a bug. `npm run
// fuzz` runs more, with other seeds.

import t from 'tap';
import { openApi } from '../../http/documents/openapi.ts';
import { fuzzHttp, Gun } from '../fuzz/http.ts';
import { type Document, operationsOf, ReplyRules } from '../fuzz/replies.ts';
import { curlOf, type Operation } from '../fuzz/requests.ts';
import { mark, World } from '../fuzz/world.ts';
import { dereferenced } from '../support/dereferenced.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const seed = 20261121;
/** An idle machine needs half of it for all operations. */
const budgetMs = 10_000;

t.test(
  'for any input, the service answers as declared, reveals nothing of others, and its files are sound',
  async (t) => {
    const world = await World.start(t, { seed });
    const { failures, requests, done } = await fuzzHttp(world, { seed, runs: 2, budgetMs });
    t.same(failures, []);
    t.ok(requests >= 20, `${requests} requests`);
    t.comment(`${requests} requests`);
    t.ok(done.size >= 3, 'some of them have an effect');

    t.test('a text or an id of another workspace is noticed', async (t) => {
      const gun = new Gun(world);
      const fired = { method: 'GET', path: '/x', headers: {}, body: undefined, caller: 'admin' as const };
      const reply = (text: string): RawAnswer => ({ status: 200, headers: {}, text, body: undefined });
      t.match(gun.leakIn(reply(`{"name":"Sales ${mark}"}`), fired), /a text of another workspace/);
      t.match(gun.leakIn(reply(`{"id":"${world.theirs.ids['contactId']}"}`), fired), /contactId of another workspace/);
      t.equal(
        gun.leakIn(reply(`{"id":"${world.theirs.ids['contactId']}"}`), {
          ...fired,
          path: `/contacts/${world.theirs.ids['contactId']}`,
        }),
        undefined,
        'values of the request may be repeated',
      );
      t.equal(gun.leakIn(reply(`{"id":"${world.ours.ids['contactId']}"}`), fired), undefined);
      const marked = await world.service.get('/contacts', world.tokenOf('admin'));
      t.notMatch(JSON.stringify(marked.body), mark);
      gun.close();
    });
    t.same(await world.close(), []);
  },
);

t.test('the rules of replies', async (t) => {
  const service = await startService(t);
  const document: Document = dereferenced((await service.get('/openapi.json')).body);
  const rules = new ReplyRules(document);
  const operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));
  const operation = (id: string): Operation => operations.get(id) ?? raise(`no ${id}`);
  const json = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'x' };
  const reply = (status: number, body: unknown, headers: RawAnswer['headers'] = json): RawAnswer => ({
    status,
    headers,
    text: JSON.stringify(body),
    body,
  });
  const problem = (id: string, answer: RawAnswer, isHead = false): string | undefined =>
    rules.problemOf(operation(id), answer, isHead);
  const notFound = { statusCode: 404, error: 'not_found', message: 'x' };

  t.equal(problem('me.read', reply(404, notFound)), undefined);
  t.match(problem('me.read', reply(404, notFound, { 'content-type': 'application/json' })), /without X-Request-Id/);
  t.match(problem('me.read', reply(404, { ...notFound, statusCode: 403 })), /of another shape/);
  t.match(
    problem('me.read', reply(404, { ...notFound, error: 'conflict' })),
    /not as declared/,
    'a word that the status does not have',
  );
  t.match(problem('me.read', reply(418, notFound)), /not declared/);
  t.match(problem('me.read', reply(500, { statusCode: 500, error: 'server_error', message: 'x' })), /^500/);
  t.match(problem('me.read', reply(503, { statusCode: 503, error: 'x', message: 'x' })), /^503/);
  t.match(
    problem('me.read', reply(503, { statusCode: 503, error: 'service_unavailable', message: 'x' })),
    /Retry-After/,
  );
  t.match(problem('me.read', reply(200, { agent: {} })), /not as declared/);
  t.match(problem('me.read', reply(200, 'x', { 'content-type': 'text/html', 'x-request-id': 'x' })), /as text\/html/);
  t.match(problem('me.read', reply(200, {}), true), /a body for HEAD/);
  t.match(problem('agent.deactivate', reply(204, {})), /a body that is not declared/);
  t.equal(operationsOf(document).at(-1)?.method, 'DELETE', 'deletions come last');
  t.equal(
    curlOf('http://x', { method: 'POST', path: '/y', headers: { A: "it's" }, body: Buffer.from('{}') }),
    "curl -i -X POST 'http://x/y' -H 'A: it'\\''s' --data-binary '{}'",
  );
});

t.test('past findings', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const document: Document = dereferenced(
    JSON.parse(JSON.stringify(openApi(service.running.routes, { baseUrl: service.url, version: '', withPages: true }))),
  );
  const rules = new ReplyRules(document);
  const problemOf = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<{ status: number; problem: string | undefined }> => {
    const reply = await rawRequest(service.url, { method, path, headers, ...(body === undefined ? {} : { body }) });
    const operation = operationsOf(document).find(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
    );
    return {
      status: reply.status,
      problem: operation === undefined ? 'no such operation' : rules.problemOf(operation, reply, false),
    };
  };

  t.test('[4.3] a question of punctuation only matches nothing: no chunks, and no invalid score', async (t) => {
    await service.post('/kb/articles', { title: 'Hours', body: 'We open at nine.', status: 'published' }, owner.token);
    await service.settled();
    t.equal((await service.post('/kb/search', { query: 'When do you open?' }, owner.token)).body.chunks.length, 1);
    for (const query of ['😀', '?', '__', '\u0301'.repeat(300)])
      t.match(
        await service.post('/kb/search', { query }, owner.token),
        { status: 200, body: { chunks: [] } },
        query.slice(0, 5),
      );
  });

  t.test('[9] a malformed Service-Version is a declared answer of every route, of pages and files too', async (t) => {
    for (const path of ['/healthz', '/join/x', '/api/v1/reports/exports/x', '/widget.js'])
      t.same(await problemOf('GET', path, { 'Service-Version': 'x' }), { status: 400, problem: undefined }, path);
  });

  t.test('[4.2] every answer of the token endpoints is declared', async (t) => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    t.same(await problemOf('POST', '/oauth/token', { ...form, Authorization: 'Bearer x' }, 'grant_type=x'), {
      status: 401,
      problem: undefined,
    });
    t.same(await problemOf('POST', '/oauth/revoke', form, 'token=x&client_id=x'), { status: 401, problem: undefined });
  });

  t.test('documents in JSON are declared as objects', async (t) => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/api/v1/openapi.json',
      '/api/v1/asyncapi.json',
      '/.well-known/oauth-authorization-server',
    ])
      t.same(await problemOf('GET', path, {}), { status: 200, problem: undefined }, path);
  });
});

function raise(message: string): never {
  throw new Error(message);
}
