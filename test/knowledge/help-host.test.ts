// A help centre at a host of its owner, and with a look of its own.

import { request } from 'node:http';
import t from 'tap';
import { DnsZone } from '../support/mail-servers.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

interface Page {
  readonly status: number;
  readonly text: string;
  readonly location: string | undefined;
}

/** fetch cannot name another host. */
function read(service: Service, host: string, path: string, sent?: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    const headers = {
      host,
      accept: 'text/html',
      ...(sent === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const method = sent === undefined ? 'GET' : 'POST';
    request(`${service.url}${path}`, { headers, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, location: response.headers.location }),
      );
    })
      .on('error', reject)
      .end(sent);
  });
}

function says(names: DnsZone, value: string): void {
  names.add({ type: 'TXT', name: '_switchboard.help.shop.example', value });
}

async function open(t: Teardown) {
  const names = await DnsZone.start(t);
  const service = await startService(t, { env: { RATE_LIMITS: 'off', DNS_SERVERS: names.address } });
  const centre = async () => {
    const owner = await service.workspace();
    const { helpHostProof } = (await service.patch('/kb/settings', { helpCentre: true }, owner.token)).body;
    await service.post(
      '/kb/articles',
      { title: `Returns of ${helpHostProof}`, slug: 'returns', body: '## Within 30 days\n\nYes.', status: 'published' },
      owner.token,
    );
    await service.settled();
    const claim = (helpHost: string | null) => service.patch('/kb/settings', { helpHost }, owner.token);
    return { owner, helpHostProof: String(helpHostProof), claim };
  };
  return { names, service, centre };
}

t.test('[help] a host shows the help centre that its DNS names, and nothing else', async (t) => {
  const { names, service, centre } = await open(t);
  const ours = await centre();
  const { owner } = ours;
  const refused = await ours.claim('Help.Shop.Example');
  t.match(refused, {
    status: 400,
    body: { detail: { fieldErrors: { helpHost: [/TXT _switchboard\.help\.shop\.example/] } } },
  });
  for (const wrong of [
    'localhost',
    '127.0.0.1',
    'help',
    'https://help.shop.example/',
    'a b.example',
    'switchboard.test',
    '',
  ])
    t.equal((await ours.claim(wrong)).status, 400, wrong);
  t.equal((await read(service, 'help.shop.example', '/returns')).status, 404, 'not yet');

  says(names, 'another=record');
  says(names, ours.helpHostProof);
  const settings = (await ours.claim('Help.Shop.Example')).body;
  t.match(settings, { helpHost: 'help.shop.example', helpCentreUrl: /^http:\/\/help\.shop\.example/ });

  const home = await read(service, 'HELP.shop.example:8080', '/');
  t.equal(home.status, 200);
  t.match(home.text, /<a href="\/returns">Returns of/);
  t.match(home.text, /<link rel="canonical" href="http:\/\/help\.shop\.example[^"]*\/">/);
  const article = await read(service, 'help.shop.example', '/returns');
  t.match(article.text, /<h3 id="within-30-days">/);
  t.match(article.text, /action="\/search"/);
  t.match(article.text, /<link rel="canonical" href="http:\/\/help\.shop\.example[^"]*\/returns">/);
  t.match((await read(service, 'help.shop.example', '/search?q=returns')).text, /href="\/returns"/);
  t.match(
    (await read(service, 'help.shop.example', '/sitemap.xml')).text,
    /<loc>http:\/\/help\.shop\.example[^<]*\/returns</,
  );
  const vote = await read(service, 'help.shop.example', '/returns/feedback', 'helpful=yes');
  t.match(vote, { status: 303, location: '/returns?thanks=1#vote' });
  for (const path of ['/api/v1/me', '/sign-in', '/widget.js', '/readyz', '/help/shop-1'])
    t.equal((await read(service, 'help.shop.example', path)).status, 404, path);

  const sub = ours.helpHostProof.split('=')[1];
  const old = await read(service, '127.0.0.1', `/help/${sub}/returns`);
  t.equal(old.status, 200, 'the former address goes on');
  t.match(old.text, /<link rel="canonical" href="http:\/\/help\.shop\.example[^"]*\/returns">/);
  const { chunks } = (await service.post('/kb/search', { query: 'returns' }, owner.token)).body;
  t.match(chunks[0].url, /^http:\/\/help\.shop\.example[^/]*\/returns/, 'links lead there');

  t.match((await ours.claim(null)).body, { helpHost: null });
  t.equal((await read(service, 'help.shop.example', '/returns')).status, 404, 'released');
});

t.test('[help] a host goes to whom its DNS names last', async (t) => {
  const { names, service, centre } = await open(t);
  const [ours, theirs] = [await centre(), await centre()];
  says(names, ours.helpHostProof);
  t.equal((await ours.claim('help.shop.example')).status, 200);
  t.equal((await theirs.claim('help.shop.example')).status, 400, 'no one takes it without the record');
  names.remove('_switchboard.help.shop.example', 'TXT');
  says(names, theirs.helpHostProof);
  t.equal((await theirs.claim('help.shop.example')).status, 200);
  t.match((await read(service, 'help.shop.example', '/returns')).text, new RegExp(theirs.helpHostProof));
  t.match((await service.get('/kb/settings', ours.owner.token)).body, { helpHost: null, helpCentreUrl: /\/help\// });
  const agent = await service.agent(ours.owner);
  t.match(await service.patch('/kb/settings', { helpHost: 'help.shop.example' }, agent.token), { status: 403 });
});

t.test('[help] a logo and a colour of its own', async (t) => {
  const { service, centre } = await open(t);
  const { owner, helpHostProof } = await centre();
  const path = `/help/${helpHostProof.split('=')[1]}`;
  const look = { helpLogoUrl: 'https://shop.example/logo.png', helpColour: '#123456' };
  t.match((await service.patch('/kb/settings', look, owner.token)).body, look);
  const { text } = await read(service, '127.0.0.1', path);
  t.match(text, /<img src="https:\/\/shop\.example\/logo\.png"/);
  t.match(text, /#123456/);
  t.equal((await service.patch('/kb/settings', { helpColour: 'red' }, owner.token)).status, 400);
  t.match((await service.patch('/kb/settings', { helpColour: null, helpLogoUrl: null }, owner.token)).body, {
    helpColour: null,
    helpLogoUrl: null,
  });
});
