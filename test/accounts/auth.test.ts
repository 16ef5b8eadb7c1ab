import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import argon2 from 'argon2';
import t from 'tap';
import { allAgents } from '../../store/workspace/agents.ts';
import { password, type Service, startService } from '../support/service.ts';

const other = 'another long and quiet sentence';
const minuteMs = 60_000;

/** Each address has five registrations a minute; a test that makes more lets the minute pass. */
async function register(service: Service, body: object) {
  service.clock.advance(minuteMs);
  return service.post('/auth/register', body);
}

t.test('register', async (t) => {
  const service = await startService(t);

  t.test('[4.1] makes a workspace, its owner and, with siteUrl, a site', async (t) => {
    const { status, body } = await register(service, {
      email: 'Ann@Example.com',
      password,
      workspaceName: 'Café Müller & Söhne',
      siteUrl: 'https://WWW.Shop.example:8443/path?x=1',
    });
    t.equal(status, 201);
    t.match(body, {
      token: String,
      agent: { email: 'ann@example.com', role: 'admin', workspaceId: body.workspace.id },
      workspace: { name: 'Café Müller & Söhne', subdomain: 'cafe-muller-sohne' },
    });
    t.same(Object.keys(body).sort(), ['agent', 'expiresAt', 'token', 'workspace']);
    t.equal(Date.parse(body.expiresAt) - service.clock.now(), 7 * 24 * 3600_000, 'tokens live seven days');
    const me = await service.get('/me', body.token);
    t.match(me.body.agent, {
      id: body.agent.id,
      name: 'ann',
      role: 'admin',
      status: 'available',
      channels: ['chats', 'tickets', 'calls'],
      hasPassword: true,
      inviteStatus: 'joined',
    });
    const { sites } = (await service.get('/sites', body.token)).body;
    t.match(sites, [
      { domain: 'www.shop.example', name: 'Café Müller & Söhne', allowedOrigins: ['www.shop.example', 'shop.example'] },
    ]);
  });

  t.test('[4.1] without siteUrl no site is created', async (t) => {
    const { body } = await register(service, { email: 'nosite@example.com', password, workspaceName: 'x' });
    t.same((await service.get('/sites', body.token)).body, { sites: [], nextCursor: null });
  });

  t.test('[4.1] the subdomain is a free slug of the name', async (t) => {
    const names: [string, string][] = [
      ['Tea', 'tea'],
      ['tea!', 'tea-2'],
      ['  TEA  ', 'tea-3'],
      ['世界', 'workspace'],
      ['---', 'workspace-2'],
      ['a'.repeat(80), 'a'.repeat(40)],
    ];
    for (const [index, [workspaceName, subdomain]] of names.entries()) {
      const { body } = await register(service, { email: `slug${index}@example.com`, password, workspaceName });
      t.equal(body.workspace.subdomain, subdomain, workspaceName);
    }
  });

  t.test(
    'no workspace has a name that asks for certificates, is looked for by programs or speaks for the service',
    async (t) => {
      const others = await startService(t, { env: { MAIL_FROM: 'Desk+codes@mail.example.com' } });
      const kept = [
        'admin',
        'Administrator',
        'webmaster',
        'hostmaster',
        'postmaster',
        'ssladmin',
        'root',
        'abuse',
        'noc',
        'support',
        'sales',
        'usenet',
        'autodiscover',
        'autoconfig',
        'MTA-STS',
        'dmarc',
        'bounces',
        'mail',
        'smtp',
        'mx1',
        'ns-2',
        'desk',
      ];
      for (const [index, workspaceName] of kept.entries()) {
        const { body } = await register(others, { email: `kept${index}@example.com`, password, workspaceName });
        t.match(body.workspace.subdomain, /-[0-9a-f]+$/, workspaceName);
        const { addresses } = (await others.get('/email/inbound-addresses', body.token)).body;
        t.notMatch(addresses[0].address, new RegExp(`^${workspaceName}@`, 'i'));
      }
      t.equal(
        (await register(others, { email: 'sound@example.com', password, workspaceName: 'Mailings' })).body.workspace
          .subdomain,
        'mailings',
      );
    },
  );

  t.test('[4.1] twenty workspaces of one name are numbered, others get their id', async (t) => {
    const slugs: string[] = [];
    for (let count = 0; count < 22; count += 1)
      slugs.push(
        (await register(service, { email: `same${count}@example.com`, password, workspaceName: 'Same' })).body.workspace
          .subdomain,
      );
    t.same(slugs.slice(0, 3), ['same', 'same-2', 'same-3']);
    t.equal(slugs[19], 'same-20');
    t.match(slugs[20], /^same-[0-9a-f]{12}$/);
    t.equal(new Set(slugs).size, slugs.length);
  });

  t.test('[7] email_taken: an agent anywhere has joined with it, in whatever case', async (t) => {
    await register(service, { email: 'taken@example.com', password, workspaceName: 'x' });
    const files = readdirSync(join(service.dataDir, 'workspaces')).filter((name) => name.endsWith('.db')).length;
    for (const email of ['taken@example.com', 'TAKEN@Example.COM'])
      t.match(
        await register(service, { email, password, workspaceName: 'x' }),
        { status: 409, body: { statusCode: 409, error: 'email_taken' } },
        email,
      );
    t.equal(
      readdirSync(join(service.dataDir, 'workspaces')).filter((name) => name.endsWith('.db')).length,
      files,
      'and no file is left',
    );
  });

  t.test('[4.1] two concurrent registrations of one email: one succeeds', async (t) => {
    service.clock.advance(minuteMs);
    const both = await Promise.all(
      [1, 2].map(() => service.post('/auth/register', { email: 'race@example.com', password, workspaceName: 'Race' })),
    );
    t.same(both.map(({ status }) => status).sort(), [201, 409]);
    t.equal((await service.post('/auth/login', { email: 'race@example.com', password })).status, 200);
  });

  t.test('[5] a password has ten characters and is not easy to guess', async (t) => {
    const email = 'weak@example.com';
    const rows: [title: string, weak: string, email?: string][] = [
      ['nine chars', 'kx7#qz!vm'],
      ['common', 'password12'],
      ['a row of keys', 'qwertyuiop'],
      ['a date and a name', 'michael1987'],
      ['repeated', 'aaaaaaaaaaaaaaaaaaaa'],
      ['common, many times over', 'p@$$w0rd'.repeat(100)],
      ['the email itself', email],
      ['the part before its @', 'johnathan.doe77', 'johnathan.doe77@example.test'],
      ["a word of the workspace's name", 'zanzibarium'],
      ["the workspace's name", 'Zanzibarium Quartz'],
      ['too long', 'correct horse battery staple '.repeat(40)],
    ];
    for (const [title, weak, of = email] of rows) {
      t.match(
        await register(service, { email: of, password: weak, workspaceName: 'Zanzibarium Quartz' }),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { password: [String] } } } },
        title,
      );
    }
    t.equal(
      (await register(service, { email, password: 'kx7#qz!vmt', workspaceName: 'x' })).status,
      201,
      'ten characters that no one would guess',
    );
  });

  t.test('[7] a weak password is refused before the email is checked', async (t) => {
    t.match(await register(service, { email: 'taken@example.com', password: 'password12', workspaceName: 'x' }), {
      status: 400,
      body: { error: 'invalid_body' },
    });
  });

  t.test('[7] every wrong field is named, and nothing is left', async (t) => {
    const { status, body } = await register(service, {
      email: 'nobody',
      password: 'short',
      workspaceName: '',
      siteUrl: 'ftp://x',
    });
    t.equal(status, 400);
    t.same(Object.keys(body.detail.fieldErrors).sort(), ['email', 'password', 'siteUrl', 'workspaceName']);
    const rows: [string, object][] = [
      ['workspaceName', { workspaceName: '   ' }],
      ['workspaceName', { workspaceName: 'x'.repeat(121) }],
      ['workspaceName', { workspaceName: undefined }],
      ['siteUrl', { siteUrl: 'https://' }],
      ['siteUrl', { siteUrl: 'https://[::1]/' }],
      ['siteUrl', { siteUrl: 'https://under_score.example/' }],
      ['siteUrl', { siteUrl: 'https://a.example:99999/' }],
      ['siteUrl', { siteUrl: 'not an address' }],
      ['email', { email: `${'a'.repeat(250)}@x.com` }],
    ];
    for (const [field, wrong] of rows) {
      const answer = await register(service, { email: 'later@example.com', password, workspaceName: 'x', ...wrong });
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(wrong).slice(0, 60),
      );
    }
    t.equal(
      (await register(service, { email: 'later@example.com', password, workspaceName: 'x'.repeat(120) })).status,
      201,
      'the email is still free, and 120 characters are a name',
    );
  });

  t.test('[4.1] a site at a name of another script has its host as browsers send it', async (t) => {
    const { body } = await register(service, {
      email: 'idn@example.com',
      password,
      workspaceName: 'x',
      siteUrl: 'https://bücher.example',
    });
    t.equal((await service.get('/sites', body.token)).body.sites[0].domain, 'xn--bcher-kva.example');
  });
});

t.test('login', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test("[4.1] answers as register does, without regard to the email's case", async (t) => {
    for (const email of [owner.email, owner.email.toUpperCase()]) {
      const { status, body } = await service.post('/auth/login', { email, password });
      t.equal(status, 200);
      t.match(body, {
        token: String,
        expiresAt: String,
        agent: { id: owner.agentId, email: owner.email, role: 'admin', workspaceId: owner.workspaceId },
        workspace: { id: owner.workspaceId, name: String, subdomain: String },
      });
      t.equal((await service.get('/me', body.token)).status, 200);
    }
  });

  t.test(
    '[5] the same answer for an unknown email, a wrong password, an agent not joined and one deactivated',
    async (t) => {
      service.clock.advance(minuteMs);
      await service.post('/agents/invite', { email: 'pending@example.com', name: 'P', role: 'agent' }, owner.token);
      const gone = await service.agent(owner);
      await service.delete(`/agents/${gone.agentId}`, owner.token);
      const answers = await Promise.all([
        service.post('/auth/login', { email: 'nobody@example.com', password }),
        service.post('/auth/login', { email: owner.email, password: 'wrong' }),
        service.post('/auth/login', { email: owner.email, password: password.toUpperCase() }),
        service.post('/auth/login', { email: 'pending@example.com', password }),
        service.post('/auth/login', { email: gone.email, password }),
      ]);
      for (const { status, body } of answers)
        t.same(
          { status, body },
          {
            status: 401,
            body: { statusCode: 401, error: 'invalid_credentials', message: 'The email or the password is wrong.' },
          },
        );
    },
  );

  t.test(
    '[decisions 4.1] an unknown email costs the same work: one password is verified, at the same cost',
    async (t) => {
      service.clock.advance(minuteMs);
      const { hasher } = service.running.services;
      const verified: (string | undefined)[] = [];
      const { verify } = hasher;
      hasher.verify = (hash, given) => {
        verified.push(hash);
        return verify(hash, given);
      };
      t.teardown(() => void (hasher.verify = verify));
      await service.post('/auth/login', { email: 'nobody@example.com', password });
      await service.post('/auth/login', { email: 'pending@example.com', password });
      await service.post('/auth/login', { email: owner.email, password: 'wrong' });
      t.same(
        verified.map((hash) => hash === undefined),
        [true, true, false],
      );
      const stored =
        allAgents(service.running.services.engine.workspace(owner.workspaceId)!.db).find(
          ({ id }) => id === owner.agentId,
        )?.passwordHash ?? '';
      const parametersOf = (hash: string): string[] =>
        hash
          .split('$')
          .slice(1, 4)
          .map((part) => part.split(',').sort().join());
      const { decoy } = await import('../../workers/secrets/password-hasher.ts');
      t.same(parametersOf(decoy), parametersOf(stored), 'algorithm, version and cost');
      t.equal(await argon2.verify(decoy, password), false);
      t.equal(await hasher.verify(undefined, password), false);
    },
  );

  t.test('[5] a password is stored hashed, with argon2id', async (t) => {
    const stored =
      allAgents(service.running.services.engine.workspace(owner.workspaceId)!.db).find(({ id }) => id === owner.agentId)
        ?.passwordHash ?? '';
    t.match(stored, /^\$argon2id\$v=19\$m=19456,p=1,t=2\$|^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    t.equal(await argon2.verify(stored, password), true);
  });

  t.test('[4.1] TOKEN_TTL_DAYS is how long a token lives, to the second', async (t) => {
    const short = await startService(t, { env: { TOKEN_TTL_DAYS: '1' } });
    const { token } = await short.workspace();
    short.clock.advance(24 * 3600_000 - minuteMs - 1);
    t.equal((await short.get('/me', token)).status, 200, 'a moment before');
    short.clock.advance(1);
    t.match(await short.get('/me', token), { status: 401, body: { error: 'unauthorized' } });
  });

  t.test(
    "[4.1] with JWT_SECRET tokens survive the loss of the data folder's own secret, which no longer counts",
    async (t) => {
      const env = { JWT_SECRET: 's'.repeat(32) };
      const configured = await startService(t, { env });
      t.equal(existsSync(join(configured.dataDir, 'jwt-secret')), false, 'none is made');
      t.equal(existsSync(join(service.dataDir, 'jwt-secret')), true, 'one is made where none is set');
      t.match(
        await configured.get('/me', owner.token),
        { status: 401, body: { error: 'unauthorized' } },
        'a token of another secret',
      );
    },
  );
});

t.test('logout', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test('[5] revokes every token of the agent, and no others', async (t) => {
    const agent = await service.agent(owner);
    const second = (await service.post('/auth/login', { email: agent.email, password })).body.token;
    t.equal((await service.post('/auth/logout', undefined, agent.token)).status, 204);
    for (const token of [agent.token, second])
      t.match(await service.get('/me', token), { status: 401, body: { error: 'token_revoked' } });
    t.match(await service.post('/auth/logout', undefined, second), { status: 401, body: { error: 'token_revoked' } });
    t.equal((await service.get('/me', owner.token)).status, 200);
    const { body } = await service.post('/auth/login', { email: agent.email, password });
    t.equal((await service.get('/me', body.token)).status, 200, 'signing in again works');
  });
});

t.test('forgotten password', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const forgot = async (email: string) => {
    service.clock.advance(minuteMs);
    return service.post('/auth/forgot-password', { email });
  };
  const askToken = async (email: string): Promise<string> => {
    const before = service.mailCount(email);
    await forgot(email);
    for (let mails = 0; mails <= before; mails += 1) {
      const token = /token=(\S+)/.exec((await service.mail(email)).text)?.[1];
      if (token !== undefined) return token;
    }
    throw new Error(`no mail to ${email} holds a reset link`);
  };
  const reset = async (token: string, newPassword: string) => {
    service.clock.advance(20_000);
    return service.post('/auth/reset-password', { token, newPassword });
  };

  t.test('[4.1] 204 whether or not the email exists; only an agent who has joined gets a mail', async (t) => {
    await service.post('/agents/invite', { email: 'pending@example.com', name: 'P', role: 'agent' }, owner.token);
    await service.mail('pending@example.com');
    for (const email of [owner.email.toUpperCase(), 'nobody@example.com', 'pending@example.com'])
      t.match(await forgot(email), { status: 204, body: null }, email);
    await service.settled();
    t.equal(service.mailCount(owner.email), 1);
    t.equal(service.mailCount('nobody@example.com'), 0);
    t.equal(service.mailCount('pending@example.com'), 1, 'only the invitation');
    const mail = await service.mail(owner.email);
    t.match(mail, { to: owner.email, subject: 'Choose a new password' });
    t.match(mail.text, /\nhttp:\/\/switchboard\.test\/reset-password\?token=[A-Za-z0-9_-]{44}\n/);
  });

  t.test('[decisions 4.1] an unknown email waits for the disk as a known one does', async (t) => {
    const syncs: number[] = [];
    let count = 0;
    const counted = await startService(t, {
      syncToDisk: (_descriptor, done) => {
        count += 1;
        setImmediate(() => done(null));
      },
    });
    const known = await counted.workspace();
    await counted.settled();
    for (const email of [known.email, 'nobody@example.com']) {
      counted.clock.advance(minuteMs);
      count = 0;
      const answer = counted.post('/auth/forgot-password', { email });
      await answer;
      syncs.push(count);
      await counted.settled();
    }
    t.ok(syncs[0] !== undefined && syncs[0] >= 1, 'a known one waits for at least one sync');
    t.equal(syncs[1], 1, 'an unknown one for one as well');
  });

  t.test('[4.1] a reset sets the password, revokes earlier tokens, and signs in', async (t) => {
    const agent = await service.agent(owner);
    const { status, body } = await reset(await askToken(agent.email), other);
    t.equal(status, 200);
    t.match(body, {
      token: String,
      agent: { id: agent.agentId, email: agent.email, workspaceId: owner.workspaceId },
      workspace: { id: owner.workspaceId },
    });
    t.equal((await service.get('/me', body.token)).status, 200);
    t.match(await service.get('/me', agent.token), { status: 401, body: { error: 'token_revoked' } });
    t.equal((await service.post('/auth/login', { email: agent.email, password: other })).status, 200);
    t.equal((await service.post('/auth/login', { email: agent.email, password })).status, 401);
  });

  t.test('[7] reset_token_expired: used, superseded, unknown, of a deactivated agent', async (t) => {
    const agent = await service.agent(owner);
    const first = await askToken(agent.email);
    const second = await askToken(agent.email);
    const refused = { status: 410, body: { statusCode: 410, error: 'reset_token_expired' } };
    t.match(await reset(first, other), refused, 'superseded');
    t.equal((await reset(second, other)).status, 200);
    t.match(await reset(second, password), refused, 'used');
    for (const token of ['x', `${second.slice(0, 22)}${'A'.repeat(22)}`, 'A'.repeat(44), '!'.repeat(60)])
      t.match(await reset(token, other), refused, 'unknown');
    const third = await askToken(agent.email);
    await service.delete(`/agents/${agent.agentId}`, owner.token);
    t.match(await reset(third, other), refused, 'of a deactivated agent');
  });

  t.test('[8] the token lives 30 minutes: a moment before it works, at the end it does not', async (t) => {
    const agent = await service.agent(owner);
    const early = await askToken(agent.email);
    service.clock.advance(30 * minuteMs - 20_001);
    t.equal((await reset(early, other)).status, 200);
    const late = await askToken(agent.email);
    service.clock.advance(30 * minuteMs - 20_000);
    t.match(await reset(late, other), { status: 410, body: { error: 'reset_token_expired' } });
  });

  t.test('[5] a weak new password is refused, and the token still works', async (t) => {
    const agent = await service.agent(owner, { name: 'Wilhelmina Oakenshield' });
    const token = await askToken(agent.email);
    for (const weak of ['kx7#qz!vm', 'password12', agent.email, 'Wilhelmina Oakenshield']) {
      t.match(
        await reset(token, weak),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { newPassword: [String] } } } },
        weak,
      );
    }
    t.equal((await reset(token, other)).status, 200);
  });

  t.test('[7] malformed: every field is named', async (t) => {
    t.match(await service.post('/auth/reset-password', {}), {
      status: 400,
      body: {
        error: 'invalid_body',
        detail: { fieldErrors: { token: ['is required'], newPassword: ['is required'] } },
      },
    });
    t.match(await service.post('/auth/forgot-password', { email: 'x' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { email: [String] } } },
    });
    t.match(await service.post('/auth/login', { email: 'x', password: '' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { email: [String], password: [String] } } },
    });
  });

  t.test('the pages that mails lead to', async (t) => {
    for (const path of ['//reset-password?token=a%22%3E%3Cscript%3E', '//join/abc']) {
      const page = await service.get(path);
      t.equal(page.status, 200);
      t.match(page.headers.get('content-type'), /^text\/html/);
      t.match(page.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/);
      t.notMatch(page.body, 'a"><script>');
    }
  });
});
