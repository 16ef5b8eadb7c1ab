import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t from 'tap';
import { readConfig } from '../../http/process/config.ts';
import { serve } from '../../http/serve.ts';
import { selfProvider } from '../../workers/providers/email-domain.ts';
import { smtpSender } from '../../workers/providers/mail.ts';
import { createResolver } from '../../workers/providers/resolver.ts';
import { tempFolder } from '../support/folder.ts';
import { makeKey } from '../support/keys.ts';
import { DnsZone, SmtpSink, sendRaw } from '../support/mail-servers.ts';
import { type Service, startService } from '../support/service.ts';

const env = { MAIL_HOST: 'mail.switchboard.test', DOMAIN_POLL_SECONDS: '60' };
type DomainRecord = { type: 'MX' | 'TXT' | 'CNAME'; name: string; value: string; priority?: number; status: string };

/** Moves the time to the next check of the records and waits until it is stored. */
const look = async (service: Service, seconds: number): Promise<void> => service.pass(seconds * 1000);

t.test('registering', async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, { env: { ...env, DNS_SERVERS: dns.address } });
  const owner = await service.workspace();

  t.test('[4.19] null before, then the domain with the records to add, and by its id', async (t) => {
    t.same((await service.get('/email/domain', owner.token)).body, { domain: null });
    const { status, body } = await service.post('/email/domain', { domain: 'Shop.Example' }, owner.token);
    t.equal(status, 200);
    t.match(body.domain, { name: 'shop.example', status: 'pending', lastCheckedAt: null });
    t.same(
      body.domain.records.map(({ type, name, status: state, priority }: DomainRecord) => [
        type,
        name.replace(/^sb[0-9a-f]{8}\./, 'SELECTOR.'),
        state,
        priority,
      ]),
      [
        ['MX', 'shop.example', 'pending', 10],
        ['TXT', 'shop.example', 'pending', undefined],
        ['TXT', 'SELECTOR._domainkey.shop.example', 'pending', undefined],
        ['TXT', '_switchboard.shop.example', 'pending', undefined],
        ['CNAME', 'bounce.shop.example', 'pending', undefined],
      ],
    );
    t.match(
      body.domain.records.map(({ value }: DomainRecord) => value),
      [
        'mail.switchboard.test',
        'v=spf1 a:mail.switchboard.test mx ~all',
        /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{300,}$/,
        /^switchboard-verification=[0-9a-f]{32}$/,
        'mail.switchboard.test',
      ],
    );
    t.same((await service.get('/email/domain', owner.token)).body, body);
    t.same((await service.get(`/email/domain/${body.domain.id}`, owner.token)).body, body);
    t.match((await service.get(`/workspaces/${owner.workspaceId}`, owner.token)).body.workspace, {
      emailDomainId: body.domain.id,
      emailDomainStatus: 'pending',
    });
    t.match((await service.get('/me/workspace', owner.token)).body.workspace, { emailDomainStatus: 'pending' });
  });

  t.test('[4.19] every agent can read it, only admins write it, other workspaces do not see it', async (t) => {
    const { id } = (await service.get('/email/domain', owner.token)).body.domain;
    const supervisor = await service.agent(owner, { role: 'supervisor' });
    t.equal((await service.get('/email/domain', supervisor.token)).body.domain.id, id);
    t.match(await service.post('/email/domain', { domain: 'other.example' }, supervisor.token), {
      status: 403,
      body: { error: 'admin_required' },
    });
    const other = await service.workspace();
    t.equal((await service.get(`/email/domain/${id}`, other.token)).status, 404);
    t.equal((await service.get(`/email/domain/${owner.agentId}`, owner.token)).status, 404);
    t.same((await service.get('/email/domain', other.token)).body, { domain: null });
  });

  t.test('[7 Email domain] anything but an apex domain is refused', async (t) => {
    for (const domain of [
      '',
      'ab',
      'example',
      'www.shop.example',
      'a.b.co.uk',
      'co.uk',
      'com',
      'shop example',
      'shop..example',
      '-shop.example',
      'https://shop.example',
      'shop.example/x',
      'shop.example?x',
      'shop.example#x',
      'shop.example:25',
      'shop%2eexample',
      'shop.\texample',
      'a@shop.example',
      '127.0.0.1',
      `${'a'.repeat(250)}.example`,
      7,
      null,
      undefined,
    ]) {
      t.match(
        await service.post('/email/domain', { domain }, owner.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { domain: [] } } } },
        String(domain).slice(0, 30),
      );
    }
    const other = await service.workspace();
    for (const [domain, name] of [
      ['münchen.example', 'xn--mnchen-3ya.example'],
      ['shop.co.uk', 'shop.co.uk'],
      ['SHOP.example.', 'shop.example'],
    ] as const)
      t.match((await service.post('/email/domain', { domain }, other.token)).body.domain, { name }, domain);
  });

  t.test('[4.19] the same domain keeps its records, another takes its place', async (t) => {
    const { body: before } = await service.get('/email/domain', owner.token);
    const { body: again } = await service.post('/email/domain', { domain: 'shop.example' }, owner.token);
    t.same(again.domain.records, before.domain.records);
    t.equal(again.domain.id, before.domain.id);
    const socket = await service.agentSocket(owner.token);
    const { body: other } = await service.post('/email/domain', { domain: 'cups.example' }, owner.token);
    t.match((await socket.next('workspace.updated')).data.workspace, {
      emailDomainId: other.domain.id,
      emailDomainStatus: 'pending',
    });
    await socket.close();
    t.not(other.domain.id, before.domain.id);
    t.equal((await service.get(`/email/domain/${before.domain.id}`, owner.token)).status, 404);
  });
});

t.test(
  '[8] the records are looked for after a minute, then in pauses that grow by half up to an hour, for seven days',
  async (t) => {
    const dns = await DnsZone.start(t);
    const service = await startService(t, { env: { ...env, DNS_SERVERS: dns.address, TOKEN_TTL_DAYS: '60' } });
    const owner = await service.workspace();
    const read = async () => (await service.get('/email/domain', owner.token)).body.domain;
    await service.post('/email/domain', { domain: 'shop.example' }, owner.token);
    t.equal(Date.parse((await read()).pollUntil) - service.clock.now(), 7 * 24 * 3600_000);
    await look(service, 59);
    t.equal(dns.questions, 0, 'not before');
    let pause = 60;
    await look(service, 1);
    for (const expected of [90, 135, 202.5]) {
      t.equal(Date.parse((await read()).lastCheckedAt), service.clock.now(), `looked after ${pause} s`);
      const checkedAt = (await read()).lastCheckedAt;
      await look(service, expected - 0.001);
      t.equal((await read()).lastCheckedAt, checkedAt, `not before ${expected} s`);
      await look(service, 0.001);
      pause = expected;
    }
    let checks = 0;
    let last = '';
    for (let hours = 0; hours < 8 * 24; hours += 1) {
      await look(service, 3600);
      const { lastCheckedAt } = await read();
      if (lastCheckedAt !== last) checks += 1;
      last = lastCheckedAt;
    }
    t.ok(checks > 160 && checks < 180, `${checks} hourly looks in the days that were left`);
    const asked = dns.questions;
    await look(service, 24 * 3600);
    t.equal(dns.questions, asked, 'after seven days the checks have ended');
    t.equal((await read()).status, 'pending');
    await service.post('/email/domain', { domain: 'shop.example' }, owner.token);
    await look(service, 60);
    t.ok(dns.questions > asked, 'registering again starts them over');
  },
);

t.test('verification', async (t) => {
  const dns = await DnsZone.start(t);
  const sink = await SmtpSink.start(t);
  const service = await startService(t, {
    mail: smtpSender(sink.url),
    env: { ...env, DNS_SERVERS: dns.address, SMTP_LISTEN: '127.0.0.1:0', TOKEN_TTL_DAYS: '60' },
  });
  const owner = await service.workspace();
  const port = service.running.smtpPort ?? 0;
  const { domain } = (await service.post('/email/domain', { domain: 'shop.example' }, owner.token)).body;
  const records: DomainRecord[] = domain.records;
  const read = async () => (await service.get('/email/domain', owner.token)).body.domain;
  const statuses = async () => (await read()).records.map(({ status }: DomainRecord) => status);
  const send = (to: string, from = 'carla@customer.example') =>
    sendRaw(port, {
      from,
      to,
      raw: `From: ${from}\r\nSubject: To ${to}\r\nMessage-ID: <${Math.random()}@customer.example>\r\n\r\nHello\r\n`,
    }).catch((error: Error) => error.message);

  t.test('[4.19] each record is verified separately; one is not enough', async (t) => {
    for (const [index, record] of records.entries()) {
      t.equal((await read()).status, 'pending');
      const isWrong = index === 2;
      if (isWrong) {
        dns.add({ type: 'TXT', name: record.name, value: 'v=DKIM1; k=rsa; p=AAAA' });
        await look(service, 3600);
        t.equal((await statuses())[index], 'pending', 'another key');
        dns.remove(record.name, 'TXT');
      }
      if (index === 1)
        dns.add(
          { type: 'TXT', name: record.name, value: 'some other text' },
          { type: 'TXT', name: record.name, value: 'v=spf1 include:_spf.mail.example a:MAIL.switchboard.test -all' },
        );
      else dns.add({ ...record, value: record.type === 'TXT' ? record.value : record.value.toUpperCase() });
      if (index === records.length - 1) break;
      await look(service, 3600);
      t.same(
        await statuses(),
        records.map((_, at) => (at <= index ? 'verified' : 'pending')),
        `${record.type} ${record.name}`,
      );
    }
    t.match(await send('anybody@shop.example'), /550/, 'no mail is taken for it yet');
    dns.break(true);
    await look(service, 3600);
    t.same(
      await statuses(),
      records.map((_, at) => (at < records.length - 1 ? 'verified' : 'pending')),
      'DNS that is down says nothing of the records',
    );
    dns.break(false);
    const socket = await service.agentSocket(owner.token);
    await look(service, 3600);
    t.match(
      (await socket.next('workspace.updated')).data.workspace,
      { emailDomainId: domain.id, emailDomainStatus: 'verified' },
      'it is reported',
    );
    await socket.close();
    t.match(await read(), { status: 'verified', records: records.map(() => ({ status: 'verified' })) });
    const [entry, ...others] = await service.audited('workspace.domain_verified', owner.token);
    t.match(entry, {
      actorAgentId: null,
      targetKind: 'email_domain',
      targetId: domain.id,
      before: { status: 'pending' },
      after: { status: 'verified', domain: 'shop.example' },
    });
    t.same(others, []);
    t.match((await service.get(`/workspaces/${owner.workspaceId}`, owner.token)).body.workspace, {
      emailDomainStatus: 'verified',
    });
    const asked = dns.questions;
    await look(service, 2 * 3600);
    t.equal(dns.questions, asked, 'the checks have ended');
    t.match(
      (await service.post('/email/domain', { domain: 'shop.example' }, owner.token)).body.domain,
      { id: domain.id, status: 'verified' },
      'registering it again leaves it so',
    );
  });

  t.test('[4.20] mail is accepted at every address of it, mapped ones for their department', async (t) => {
    const { body: sales } = await service.post('/departments', { name: 'Sales' }, owner.token);
    const { body } = await service.put(
      '/email/inbound-addresses',
      { addresses: [{ localPart: 'Sales', departmentId: sales.id }] },
      owner.token,
    );
    t.same(body.addresses, [
      { address: 'shop-1@mail.switchboard.test', kind: 'auto', localPart: 'shop-1', departmentId: null },
      { address: 'sales@shop-1.mail.switchboard.test', kind: 'subdomain', localPart: 'sales', departmentId: sales.id },
      { address: 'sales@shop.example', kind: 'custom', localPart: 'sales', departmentId: sales.id },
    ]);
    for (const to of ['anybody@shop.example', 'SALES@shop.example']) t.match(await send(to), /^250/, to);
    t.match(await send('anybody@www.shop.example'), /550/);
    const [anybody, mapped] = await service.tickets(owner.token);
    t.equal(anybody.departmentId, null);
    t.equal(mapped.departmentId, sales.id);
  });

  t.test('[4.6] answers are sent from it, signed, and replies return to it', async (t) => {
    const [anybody, mapped] = await service.tickets(owner.token);
    const resolver = createResolver([dns.address]);
    for (const [ticket, from] of [
      [mapped, 'sales@shop.example'],
      [anybody, 'anybody@shop.example'],
    ]) {
      await service.post(
        `/conversations/${ticket.id}/messages`,
        { body: 'From our own domain.\n.\nWith a dot on a line.' },
        owner.token,
      );
      const mail = await sink.next();
      t.same(mail.envelope, { from: 'bounces@bounce.shop.example', to: ['carla@customer.example'] });
      t.equal(mail.parsed.from?.value[0]?.address, from, 'the address that was written to');
      t.match(mail.parsed.messageId, /@shop\.example>$/);
      const verified = await dkimVerify(mail.raw, {
        resolver: (name: string, type: string) => resolver.records(name, type),
      });
      t.match(verified.results, [
        { signingDomain: 'shop.example', status: { result: 'pass', aligned: 'shop.example' } },
      ]);
    }
    const started = await service.post(
      '/tickets',
      { customerEmail: 'new@customer.example', subject: 'Hello', body: 'First' },
      owner.token,
    );
    t.equal(started.status, 201);
    t.equal(
      (await sink.next()).parsed.from?.value[0]?.address,
      'support@shop.example',
      'mail without a particular recipient',
    );
  });

  t.test(
    '[4.19] one that is verified in another workspace: 409; free again when its owner takes another',
    async (t) => {
      const other = await service.workspace().catch(() => undefined);
      t.ok(other);
      if (other === undefined) return;
      t.match(await service.post('/email/domain', { domain: 'shop.example' }, other.token), {
        status: 409,
        body: { error: 'conflict' },
      });
      await service.post('/email/domain', { domain: 'cups.example' }, owner.token);
      t.match(await send('anybody@shop.example'), /550/, 'its mail is unknown then');
      t.equal((await service.post('/email/domain', { domain: 'shop.example' }, other.token)).status, 200);
    },
  );
});

t.test(
  '[4.20] a domain whose mail goes elsewhere is verified without its MX, which is looked for all the same',
  async (t) => {
    const dns = await DnsZone.start(t);
    const service = await startService(t, { env: { ...env, DNS_SERVERS: dns.address, TOKEN_TTL_DAYS: '60' } });
    const owner = await service.workspace();
    const read = async () => (await service.get('/email/domain', owner.token)).body.domain;
    const { domain } = (await service.post('/email/domain', { domain: 'shop.example' }, owner.token)).body;
    t.same(
      domain.records.map(({ type, required }: DomainRecord & { required: boolean }) => [type, required]),
      [
        ['MX', false],
        ['TXT', true],
        ['TXT', true],
        ['TXT', true],
        ['CNAME', true],
      ],
    );
    const [mx, ...others]: DomainRecord[] = domain.records;
    if (mx === undefined) throw new Error('no MX');
    dns.add({ type: 'MX', name: 'shop.example', value: 'aspmx.l.google.com' }, ...others);
    await look(service, 60);
    const found = async () => {
      const { status, records } = await read();
      return [status, ...records.map(({ status: each }: DomainRecord) => each)];
    };
    t.same(await found(), ['verified', 'pending', 'verified', 'verified', 'verified', 'verified']);
    dns.remove('bounce.shop.example', 'CNAME');
    await look(service, 3600);
    t.same(
      await found(),
      ['verified', 'pending', 'verified', 'verified', 'verified', 'verified'],
      'its verification is not checked again',
    );
    dns.add(mx);
    await look(service, 3600);
    t.same(await found(), ['verified', 'verified', 'verified', 'verified', 'verified', 'verified']);
    t.equal((await service.audited('workspace.domain_verified', owner.token)).length, 1);
    const asked = dns.questions;
    await look(service, 2 * 3600);
    t.equal(dns.questions, asked, 'the checks have ended');
  },
);

t.test('[4.19] records as other servers of names write them', async (t) => {
  const dns = await DnsZone.start(t);
  const provider = selfProvider({
    mailHost: 'mail.switchboard.test',
    bounceLabel: 'bounce',
    resolver: createResolver([dns.address]),
  });
  const { records } = await provider.register('shop.example');
  const check = async () =>
    (await provider.check(records.map((record) => ({ ...record, status: 'pending' as const })))).map(Number).join('');
  t.equal(await check(), '00000');

  dns.add(
    { type: 'A', name: 'mail.switchboard.test', value: '192.0.2.7' },
    { type: 'A', name: 'bounce.shop.example', value: '192.0.2.8' },
  );
  t.equal(await check(), '00000', 'another address');
  dns.add({ type: 'A', name: 'mail.switchboard.test', value: '192.0.2.8' });
  t.equal(await check(), '00001', 'a CNAME that is answered with the addresses it comes to');
  dns.add({ type: 'A', name: 'bounce.shop.example', value: '198.51.100.1' });
  t.equal(await check(), '00000', 'not with others beside');

  const spf = async (value: string): Promise<string> => {
    dns.remove('shop.example', 'TXT');
    dns.add({ type: 'TXT', name: 'shop.example', value });
    return (await check()).slice(1, 2);
  };
  for (const value of [
    'v=spf1 a:mail.switchboard.test -all',
    'v=spf1 ip4:192.0.2.8 -all',
    'v=spf1 +ip4:192.0.2.0/24 ~all',
  ])
    t.equal(await spf(value), '1', value);
  const relayed = 'v=spf1 ip4:203.0.113.9 -all';
  for (const value of [
    relayed,
    'v=spf1 -ip4:192.0.2.8 -all',
    'v=spf1 ip4:192.0.2.x',
    'v=spf1 ip6:2001:db8::/32 -all',
    'v=spf10 a:mail.switchboard.test',
    'hello',
  ])
    t.equal(await spf(value), '0', value);
  dns.add({ type: 'TXT', name: 'bounce.shop.example', value: relayed });
  t.equal(await spf(relayed), '1', 'receivers ask the domain of the envelope');
  t.equal(await spf('hello'), '0', 'where there is no SPF record, it is to be added');
});

t.test(
  "[RFC 3834, 6376] the service's own mails are sent from the verified domain, signed and marked; without one from the mail host, signed with its key",
  async (t) => {
    const folder = tempFolder(t);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const file = join(folder, 'dkim.pem');
    writeFileSync(file, privateKey);
    const dns = await DnsZone.start(t);
    const sink = await SmtpSink.start(t);
    const service = await startService(t, {
      mail: smtpSender(sink.url),
      env: { ...env, DNS_SERVERS: dns.address, MAIL_DKIM_KEY_FILE: file, MAIL_DKIM_SELECTOR: 'own' },
    });
    dns.add({
      type: 'TXT',
      name: 'own._domainkey.mail.switchboard.test',
      value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
    });
    const owner = await service.workspace();
    const resolver = createResolver([dns.address]);
    const arrived = async (from: string, signedBy: string, returnPath: string): Promise<void> => {
      const mail = await sink.next();
      t.equal(mail.parsed.from?.value[0]?.address, from);
      t.equal(mail.envelope.from, returnPath);
      const verified = await dkimVerify(mail.raw, {
        resolver: (name: string, type: string) => resolver.records(name, type),
      });
      t.match(verified.results, [{ signingDomain: signedBy, status: { result: 'pass' } }], mail.parsed.subject ?? '');
      t.equal(mail.parsed.headers.get('auto-submitted'), 'auto-generated', mail.parsed.subject ?? '');
    };
    const key = await makeKey(service, owner);
    t.match((await sink.next()).parsed.subject, /key/i, 'its creator is notified');
    t.equal((await service.post('/verify/services', { name: 'Shop' }, owner.token)).status, 201);
    const all = async (...expected: Parameters<typeof arrived>): Promise<void> => {
      const [, domain] = expected;
      t.equal(
        (
          await service.post(
            '/agents/invite',
            { email: `new@${domain}`, name: 'New', role: 'agent', channels: ['chats'], groupIds: [] },
            owner.token,
          )
        ).status,
        201,
      );
      await arrived(...expected);
      t.equal((await service.post('/auth/forgot-password', { email: owner.email })).status, 204);
      await arrived(...expected);
      t.equal((await service.post('/verify', { to: `kim@${domain}`, channel: 'email' }, key)).status, 201);
      await arrived(...expected);
    };
    await all('switchboard@mail.switchboard.test', 'mail.switchboard.test', 'switchboard@mail.switchboard.test');
    const ticket = await service.post(
      '/tickets',
      { customerEmail: 'kim@customer.example', subject: 'Hello', body: 'First' },
      owner.token,
    );
    t.equal(ticket.status, 201);
    const byHand = await sink.next();
    t.match(
      (await dkimVerify(byHand.raw, { resolver: (name: string, type: string) => resolver.records(name, type) }))
        .results,
      [{ signingDomain: 'mail.switchboard.test', status: { result: 'pass' } }],
    );
    t.equal(byHand.parsed.headers.get('auto-submitted'), undefined, 'a person wrote it');

    const { domain } = (await service.post('/email/domain', { domain: 'shop.example' }, owner.token)).body;
    dns.add(...domain.records);
    await look(service, 60);
    await all('support@shop.example', 'shop.example', 'bounces@bounce.shop.example');

    writeFileSync(file, 'no key');
    await t.rejects(
      serve({
        config: readConfig({
          DATA_DIR: join(folder, 'data'),
          PORT: '0',
          LOG_LEVEL: 'silent',
          MAIL_DKIM_KEY_FILE: file,
        }),
      }),
      { name: 'ConfigError', message: /^MAIL_DKIM_KEY_FILE must name a private RSA key/ },
    );
  },
);

t.test('[4.19] two workspaces that register the same domain: the first to prove it has it', async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, { env: { ...env, DNS_SERVERS: dns.address } });
  const first = await service.workspace();
  const second = await service.workspace();
  const { domain: ofFirst } = (await service.post('/email/domain', { domain: 'shop.example' }, first.token)).body;
  const { domain: ofSecond } = (await service.post('/email/domain', { domain: 'shop.example' }, second.token)).body;
  dns.add(...ofFirst.records, ...ofSecond.records);
  await look(service, 60);
  const states = [
    (await service.get('/email/domain', first.token)).body.domain.status,
    (await service.get('/email/domain', second.token)).body.domain.status,
  ];
  t.same([...states].sort(), ['pending', 'verified']);
});

t.test(
  '[4.19] polling continues after a restart, and a claim of a workspace that was not created is released',
  async (t) => {
    const dns = await DnsZone.start(t);
    const first = await startService(t, { env: { ...env, DNS_SERVERS: dns.address } });
    const owner = await first.workspace();
    const { domain } = (await first.post('/email/domain', { domain: 'shop.example' }, owner.token)).body;
    await first.running.services.directory.claimDomain({ name: 'shop.example', workspaceId: owner.workspaceId });
    await first.stop();
    const second = await startService(t, {
      dataDir: first.dataDir,
      clock: first.clock,
      env: { ...env, DNS_SERVERS: dns.address },
    });
    const { directory } = second.running.services;
    await second.settled();
    await directory.lane?.drained();
    t.equal(directory.findDomain('shop.example'), undefined);
    await directory.claimDomain({ name: 'shop.example', workspaceId: owner.workspaceId });
    await directory.settleDomains({ workspaceId: owner.workspaceId, verified: undefined });
    t.equal(
      directory.findDomain('shop.example'),
      owner.workspaceId,
      'addresses claimed after the file was checked stay',
    );
    dns.add(...domain.records);
    await look(second, 60);
    t.equal((await second.get('/email/domain', owner.token)).body.domain.status, 'verified');
    await second.stop();
    const third = await startService(t, {
      dataDir: first.dataDir,
      clock: first.clock,
      env: { ...env, DNS_SERVERS: dns.address },
    });
    t.equal(third.running.services.directory.findDomain('shop.example'), owner.workspaceId, 'a verified one stays');
  },
);

t.test(
  "[operations] a workspace whose file is damaged keeps its domain; mail for it is its senders' until it can be read",
  async (t) => {
    const dns = await DnsZone.start(t);
    const settings = { ...env, DNS_SERVERS: dns.address, SMTP_LISTEN: '127.0.0.1:0' };
    const first = await startService(t, { env: settings });
    const owner = await first.workspace();
    const other = await first.workspace();
    dns.add(...(await first.post('/email/domain', { domain: 'shop.example' }, owner.token)).body.domain.records);
    await look(first, 60);
    t.equal((await first.get('/email/domain', owner.token)).body.domain.status, 'verified');
    await first.stop();
    const file = join(first.dataDir, 'workspaces', `${owner.workspaceId}.db`);
    writeFileSync(file, 'this is no database'.repeat(1000));
    rmSync(`${file}-wal`, { force: true });
    const second = await startService(t, { dataDir: first.dataDir, clock: first.clock, env: settings });
    t.match(await second.post('/email/domain', { domain: 'shop.example' }, other.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    const raw = 'From: carla@customer.example\r\nSubject: Hello\r\n\r\nHello\r\n';
    t.match(
      await sendRaw(second.running.smtpPort ?? 0, {
        from: 'carla@customer.example',
        to: 'anybody@shop.example',
        raw,
      }).catch((error: Error) => error.message),
      /451/,
    );

    const { address, secret } = await second.mailbox(other);
    const copied = `From: carla@customer.example\r\nTo: ${address}\r\nCc: anybody@shop.example\r\nSubject: For both\r\n\r\nHello\r\n`;
    t.match(
      await sendRaw(second.running.smtpPort ?? 0, { from: 'carla@customer.example', to: address, raw: copied }),
      /^250/,
      'copied people cannot act for others',
    );
    t.match(
      await second.deliver({ address, secret }, { to: [address, 'anybody@shop.example'], subject: 'For both again' }),
      { status: 200 },
    );
    t.equal((await second.tickets(other.token)).length, 2);
  },
);

t.test('[7 Email domain] 502 if the provider fails, 503 if there is none', async (t) => {
  const broken = await startService(t, {
    env,
    emailDomains: { register: () => Promise.reject(new Error('down')), check: () => Promise.reject(new Error('down')) },
  });
  const owner = await broken.workspace();
  t.match(await broken.post('/email/domain', { domain: 'shop.example' }, owner.token), {
    status: 502,
    body: { error: 'email_provider_error' },
  });
  t.same((await broken.get('/email/domain', owner.token)).body, { domain: null });
  const none = await startService(t, { env: { ...env, EMAIL_DOMAIN_PROVIDER: 'none' } });
  const other = await none.workspace();
  t.match(await none.post('/email/domain', { domain: 'shop.example' }, other.token), {
    status: 503,
    body: { error: 'email_provider_not_configured' },
  });
  t.match(
    await none.post('/email/domain', { domain: 'x' }, other.token),
    { status: 400 },
    'a bad body is reported first',
  );
  t.same((await none.get('/email/domain', other.token)).body, { domain: null });
});
