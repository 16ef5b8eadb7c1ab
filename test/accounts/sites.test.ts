import t from 'tap';
import { allowsOrigin } from '../../engine/workspace/sites.ts';
import { password, startService } from '../support/service.ts';

t.test('sites', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const stranger = await service.workspace();
  const create = (fields: object, token = owner.token) => service.post('/sites', { name: 'Site', ...fields }, token);

  t.test('[4.16] create: defaults, and the id of the install snippet', async (t) => {
    const { status, body } = await create({ name: 'Shop', domain: 'Example.COM' });
    t.equal(status, 201);
    t.same(body, {
      id: body.id,
      version: 1,
      lastSeenAt: null,
      lastSeenHost: null,
      refusedHosts: [],
      name: 'Shop',
      domain: 'example.com',
      embedId: body.embedId,
      primaryColor: '#2563eb',
      launcherPosition: 'right',
      welcomeMessage: 'Hello! How can we help?',
      onlineMessage: '',
      awayMessage: '',
      closedMessage: '',
      theme: 'auto',
      logoUrl: null,
      launcherSidePx: 20,
      launcherBottomPx: 20,
      hiddenOnPhones: false,
      assistantTurns: 0,
      businessHoursOverride: null,
      allowedOrigins: ['example.com', 'www.example.com'],
      createdAt: body.createdAt,
    });
    t.match(body.embedId, /^[A-Za-z0-9_-]{30,}$/);
    t.same((await service.get(`/sites/${body.id}`, supervisor.token)).body, body, 'every agent may read it');
    t.equal(
      (await service.post('/widget/sessions', { siteId: body.embedId, url: 'https://example.com/' })).status,
      200,
      'the widget finds it by its embedId',
    );
  });

  t.test('[4.16] create: everything given', async (t) => {
    const fields = {
      name: 'All',
      domain: 'all.example',
      primaryColor: '#ABCDEF',
      launcherPosition: 'left',
      welcomeMessage: '',
      allowedOrigins: ['https://app.all.example:8443', '*.all.example'],
    };
    t.match(await create(fields), { status: 201, body: fields });
  });

  t.test('[7] conflict: a domain has one site, in whatever spelling', async (t) => {
    await create({ domain: 'bücher.example' });
    for (const domain of ['example.com', 'EXAMPLE.com', 'xn--bcher-kva.example', 'BÜCHER.example'])
      t.match(await create({ domain }), { status: 409, body: { statusCode: 409, error: 'conflict' } }, domain);
    t.equal((await create({ domain: 'example.com' }, stranger.token)).status, 201, 'another workspace may have it too');
  });

  t.test('[7] forbidden: only admins create and change', async (t) => {
    const { id } = (await create({ domain: 'roles.example' })).body;
    t.match(await create({ domain: 'sup.example' }, supervisor.token), { status: 403, body: { error: 'forbidden' } });
    t.match(await service.patch(`/sites/${id}`, { expectedVersion: 1, name: 'x' }, supervisor.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
  });

  t.test('[7] wrong fields are named', async (t) => {
    const rows: [object, string][] = [
      [{ domain: 'x'.repeat(2) }, 'domain'],
      [{ domain: `${'a'.repeat(63)}.`.repeat(4) }, 'domain'],
      ...[
        'https://example.com',
        'example.com/path',
        'example.com:80',
        'under_score.example',
        '-a.example',
        'a..example',
        'a b.example',
        '*.example.com',
        `${'a'.repeat(64)}.example`,
      ].map((domain): [object, string] => [{ domain }, 'domain']),
      [{ domain: 'ok.example', name: ' ' }, 'name'],
      [{ domain: 'ok.example', primaryColor: 'blue' }, 'primaryColor'],
      [{ domain: 'ok.example', launcherPosition: 'top' }, 'launcherPosition'],
      [{ domain: 'ok.example', welcomeMessage: 'x'.repeat(1001) }, 'welcomeMessage'],
      [{ domain: 'ok.example', allowedOrigins: Array.from({ length: 51 }, () => 'a.example') }, 'allowedOrigins'],
      ...[
        '*',
        '*.',
        'ftp://a.example',
        'https://a.example/path',
        'a.*.example',
        '**.a.example',
        'https://',
        'a.example:0',
        'a.example:65536',
        'a.example:port',
        'https://user@a.example',
        '',
      ].map((origin): [object, string] => [
        { domain: 'ok.example', allowedOrigins: ['fine.example', origin] },
        'allowedOrigins.1',
      ]),
    ];
    for (const [fields, path] of rows)
      t.match(
        await create(fields),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [path]: [String] } } } },
        JSON.stringify(fields).slice(0, 90),
      );
    t.match(await service.post('/sites', {}, owner.token), {
      status: 400,
      body: { detail: { fieldErrors: { name: ['is required'], domain: ['is required'] } } },
    });
    t.equal((await create({ domain: 'ok.example' })).status, 201);
  });

  t.test('[4.16] update needs the version, and raises it', async (t) => {
    const { id } = (await create({ domain: 'locked.example' })).body;
    const patch = (body: object) => service.patch(`/sites/${id}`, body, owner.token);
    t.match(await patch({ name: 'x' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { expectedVersion: ['is required'] } } },
    });
    t.match(
      await patch({
        expectedVersion: 1,
        name: 'Second',
        welcomeMessage: 'Hi',
        launcherPosition: 'left',
        primaryColor: '#000000',
        allowedOrigins: ['a.example'],
      }),
      {
        status: 200,
        body: {
          version: 2,
          name: 'Second',
          welcomeMessage: 'Hi',
          launcherPosition: 'left',
          primaryColor: '#000000',
          allowedOrigins: ['a.example'],
        },
      },
    );
    for (const expectedVersion of [1, 3])
      t.match(await patch({ expectedVersion, name: 'Third' }), {
        status: 409,
        body: { statusCode: 409, error: 'stale_version', detail: { currentVersion: 2 } },
      });
    for (const body of [{ expectedVersion: 2 }, { expectedVersion: 2, unknown: 1 }])
      t.match(await patch(body), { status: 400, body: { error: 'invalid_body' } });
    t.match((await service.get(`/sites/${id}`, owner.token)).body, { version: 2, name: 'Second' });
    const both = await Promise.all(['A', 'B'].map((name) => patch({ expectedVersion: 2, name })));
    t.same(both.map(({ status }) => status).sort(), [200, 409], 'of two at once one is stale');
  });

  t.test('[4.16] a new domain replaces the default origins', async (t) => {
    const { id } = (await create({ domain: 'before.example' })).body;
    const patch = (body: object) => service.patch(`/sites/${id}`, body, owner.token);
    t.match((await patch({ expectedVersion: 1, domain: 'www.After.example' })).body, {
      domain: 'www.after.example',
      allowedOrigins: ['www.after.example', 'after.example'],
    });
    await patch({ expectedVersion: 2, allowedOrigins: ['chosen.example'] });
    t.match((await patch({ expectedVersion: 3, domain: 'third.example' })).body, {
      domain: 'third.example',
      allowedOrigins: ['chosen.example'],
    });
    t.match(await patch({ expectedVersion: 4, domain: 'locked.example' }), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.match(await patch({ expectedVersion: 4, domain: 'no/host' }), {
      status: 400,
      body: { detail: { fieldErrors: { domain: [String] } } },
    });
  });

  t.test("[4.12] the widget is refused from an origin that is not the site's", async (t) => {
    const { embedId } = (await create({ domain: 'widget.example' })).body;
    const open = (origin: string | undefined) =>
      service.call('POST', '/widget/sessions', {
        body: { siteId: embedId, url: 'https://widget.example/' },
        headers: { Origin: origin },
      });
    for (const origin of ['https://widget.example', 'https://www.widget.example', undefined])
      t.equal((await open(origin)).status, 200, String(origin));
    for (const origin of ['https://evil.example', 'https://widget.example.evil.example', 'null'])
      t.match(await open(origin), { status: 403, body: { error: 'forbidden' } }, origin);
    const token = (await open(undefined)).body.visitorToken;
    const view = (origin: string) =>
      service.call('POST', '/widget/page-views', {
        body: { url: 'https://widget.example/a' },
        token,
        headers: { Origin: origin },
      });
    t.equal((await view('https://widget.example')).status, 200);
    t.match(await view('https://evil.example'), { status: 403, body: { error: 'forbidden' } });
  });

  t.test('[4.16] origins are kept in one spelling, once', async (t) => {
    const { body } = await create({
      domain: 'spelling.example',
      allowedOrigins: [
        'HTTPS://App.Example/',
        'https://app.example',
        '*.BÜCHER.example',
        ' spaced.example ',
        'a.example:08443',
      ],
    });
    t.same(body.allowedOrigins, ['https://app.example', '*.xn--bcher-kva.example', 'spaced.example', 'a.example:8443']);
  });
});

t.test('[4.16] a site can have an IP address as its domain, and what was read of it can be written back', async (t) => {
  const service = await startService(t);
  const { body: owner } = await service.post('/auth/register', {
    email: 'owner@shop.example',
    password,
    workspaceName: 'Shop',
    siteUrl: 'http://192.168.1.5:3000/shop',
  });
  await service.post('/sites', { name: 'Shop', domain: '[2001:DB8::0:5]' }, owner.token);
  const { sites } = (await service.get('/sites', owner.token)).body;
  t.same(
    sites.map(({ domain, allowedOrigins }: { domain: string; allowedOrigins: string[] }) => [domain, allowedOrigins]),
    [
      ['[2001:db8::5]', ['[2001:db8::5]']],
      ['192.168.1.5', ['192.168.1.5']],
    ],
    'an address has no www',
  );
  for (const { id, domain, allowedOrigins } of sites)
    t.match(await service.patch(`/sites/${id}`, { expectedVersion: 1, domain, allowedOrigins }, owner.token), {
      status: 200,
      body: { domain, allowedOrigins },
    });
});

t.test('[4.16] which origins an entry admits', async (t) => {
  const rows: [entry: string, admitted: string[], refused: string[]][] = [
    [
      'example.com',
      ['https://example.com', 'http://example.com', 'https://example.com:8443', 'https://EXAMPLE.com'],
      ['https://www.example.com', 'https://example.com.evil.example', 'https://notexample.com', 'https://example.co'],
    ],
    [
      'https://example.com',
      ['https://example.com', 'https://example.com:443', 'HTTPS://Example.com'],
      ['http://example.com', 'https://example.com:8443', 'https://www.example.com'],
    ],
    [
      'http://example.com',
      ['http://example.com', 'http://example.com:80'],
      ['https://example.com', 'http://example.com:8080'],
    ],
    ['https://example.com:8443', ['https://example.com:8443'], ['https://example.com', 'http://example.com:8443']],
    ['https://example.com:443', ['https://example.com'], ['https://example.com:444', 'http://example.com']],
    [
      'example.com:3000',
      ['http://example.com:3000', 'https://example.com:3000'],
      ['https://example.com', 'http://example.com:3001'],
    ],
    ['example.com:443', ['https://example.com'], ['http://example.com']],
    ['localhost:3000', ['http://localhost:3000'], ['http://localhost', 'http://127.0.0.1:3000']],
    ['127.0.0.1', ['http://127.0.0.1:5173'], ['http://127.0.0.2']],
    ['[::1]', ['http://[::1]:5173', 'https://[0:0::1]'], ['http://[::2]', 'http://localhost']],
    ['http://[::1]:5173', ['http://[::1]:5173'], ['http://[::1]']],
    [
      '*.example.com',
      ['https://a.example.com', 'https://a.b.c.example.com', 'http://a.example.com:8080', 'https://A.Example.COM'],
      ['https://example.com', 'https://evilexample.com', 'https://a.example.com.evil.example', 'https://.example.com'],
    ],
    [
      'https://*.example.com',
      ['https://a.example.com'],
      ['http://a.example.com', 'https://a.example.com:8443', 'https://example.com'],
    ],
    ['https://*.example.com:8443', ['https://a.b.example.com:8443'], ['https://a.example.com']],
    ['xn--bcher-kva.example', ['https://xn--bcher-kva.example', 'https://bücher.example'], ['https://bucher.example']],
    ['*.xn--bcher-kva.example', ['https://shop.xn--bcher-kva.example'], ['https://xn--bcher-kva.example']],
  ];
  const never = [
    'null',
    '',
    'example.com',
    '//example.com',
    'https://',
    'ftp://example.com',
    'file://',
    'chrome-extension://example.com',
    'javascript:alert(1)',
    'https://example.com https://evil.example',
  ];
  for (const [entry, admitted, refused] of rows) {
    const site = { allowedOrigins: [entry] };
    for (const origin of admitted) t.equal(allowsOrigin(site, origin), true, `${entry} admits ${origin}`);
    for (const origin of [...refused, ...never])
      t.equal(allowsOrigin(site, origin), false, `${entry} refuses ${JSON.stringify(origin)}`);
    t.equal(allowsOrigin(site, undefined), true, 'clients other than browsers pass');
  }
  t.equal(allowsOrigin({ allowedOrigins: [] }, 'https://example.com'), false, 'no entry admits no browser');
  t.equal(allowsOrigin({ allowedOrigins: ['a.example', 'b.example'] }, 'https://b.example'), true, 'any of several');
});
