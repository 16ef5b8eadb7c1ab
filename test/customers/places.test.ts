// Visitors' places: from a database, reloaded while the service runs, and from a trusted proxy. Specification 2,
// "Visitor".

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openPlaces, PlacesUnusable } from '../../workers/providers/places.ts';
import { tempFolder } from '../support/folder.ts';
import { type Entry, mmdbOf } from '../support/mmdb.ts';
import { type Service, startService } from '../support/service.ts';

const lyon = {
  country: { iso_code: 'FR' },
  city: { names: { en: 'Lyon', de: 'Lyon' } },
  subdivisions: [{ names: { en: 'Auvergne-Rhône-Alpes' } }, { names: { en: 'Rhône' } }],
};
const cities: readonly Entry[] = [
  ['81.2.69.0/24', lyon],
  ['198.51.100.0/25', { registered_country: { iso_code: 'SE' } }],
  ['203.0.113.0/24', { continent: { code: 'AS' } }],
  ['2001:db8:5::/48', { country: { iso_code: 'JP' }, city: { names: { en: '東京' } } }],
  ['192.0.2.0/24', { country: { iso_code: 7 }, city: 'Nowhere', subdivisions: { 0: 'x' } }],
];

function databaseIn(t: Parameters<typeof tempFolder>[0], entries = cities, databaseType?: string): string {
  const path = join(tempFolder(t), 'places.mmdb');
  writeFileSync(path, mmdbOf(entries, databaseType));
  return path;
}

t.test('[2 visitor] an address is looked up, of either family; odd data in the file counts as unknown', async (t) => {
  const places = await openPlaces(databaseIn(t));
  const rows: [string, object | undefined][] = [
    ['81.2.69.160', { country: 'FR', city: 'Lyon', region: 'Auvergne-Rhône-Alpes' }],
    ['::ffff:81.2.69.160', { country: 'FR', city: 'Lyon', region: 'Auvergne-Rhône-Alpes' }],
    ['198.51.100.1', { country: 'SE', city: null, region: null }],
    ['198.51.100.200', undefined],
    ['203.0.113.9', undefined],
    ['2001:db8:5::1', { country: 'JP', city: '東京', region: null }],
    ['2001:db8:5::1%eth0', { country: 'JP', city: '東京', region: null }],
    ['2001:db8:6::1', undefined],
    ['192.0.2.1', undefined],
    ['10.0.0.1', undefined],
    ['', undefined],
    ['unknown', undefined],
    ['81.2.69.160:443', undefined],
  ];
  for (const [address, place] of rows) t.strictSame(places.placeOf(address), place, address);
});

t.test('a file that is no database of places is named, and changes nothing', async (t) => {
  const folder = tempFolder(t);
  const whole = mmdbOf(cities);
  const rows: [string, Buffer | undefined][] = [
    ['missing', undefined],
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('no database')],
    ['cut', whole.subarray(0, whole.length - 60)],
    ['owners', mmdbOf([['81.2.69.0/24', { autonomous_system_number: 7 }]], 'GeoLite2-ASN')],
  ];
  for (const [name, bytes] of rows) {
    const path = join(folder, name);
    if (bytes !== undefined) writeFileSync(path, bytes);
    await t.rejects(
      openPlaces(path),
      { name: 'PlacesUnusable', message: new RegExp(`${name} cannot be used as a database of places`) },
      name,
    );
    await t.rejects(startService(t, { env: { GEO_DB: path } }), { name: 'ConfigError', message: /^GEO_DB: / }, name);
  }
  const path = databaseIn(t);
  const places = await openPlaces(path);
  writeFileSync(path, 'no database');
  await t.rejects(places.reload(), PlacesUnusable);
  t.match(places.placeOf('81.2.69.160'), { city: 'Lyon' });
});

async function visitorFrom(
  service: Service,
  owner: { token: string; embedId: string },
  headers: Record<string, string>,
  visitorToken?: string,
): Promise<{ country: string | null; geo: object | null; token: string }> {
  const { body } = await service.call('POST', '/widget/sessions', {
    body: {
      siteId: owner.embedId,
      url: 'https://shop.example/',
      ...(visitorToken === undefined ? {} : { visitorToken }),
    },
    headers,
  });
  const { visitor } = (await service.get(`/visitors/${body.visitor.id}`, owner.token)).body;
  return { country: visitor.country, geo: visitor.geo, token: body.visitorToken };
}

t.test("[2 visitor] country and geo: of the browser's latest address, from a file that can be reloaded", async (t) => {
  const path = databaseIn(t);
  const service = await startService(t, { env: { TRUST_PROXY: 'on', GEO_DB: path } });
  const owner = await service.workspace();
  const first = await visitorFrom(service, owner, { 'X-Forwarded-For': '81.2.69.160' });
  t.match(first, { country: 'FR', geo: { city: 'Lyon', region: 'Auvergne-Rhône-Alpes' } });
  t.match(await visitorFrom(service, owner, { 'X-Forwarded-For': '2001:db8:5::9' }, first.token), {
    country: 'JP',
    geo: { city: '東京', region: null },
  });
  t.match(await visitorFrom(service, owner, { 'X-Forwarded-For': '10.1.2.3' }, first.token), {
    country: null,
    geo: null,
  });

  writeFileSync(`${path}.new`, mmdbOf([['10.0.0.0/8', { country: { iso_code: 'DE' } }]], 'DBIP-Country-Lite'));
  renameSync(`${path}.new`, path);
  await service.running.reload();
  t.match(await visitorFrom(service, owner, { 'X-Forwarded-For': '10.1.2.3' }), { country: 'DE', geo: null });
  writeFileSync(path, 'no database');
  await service.running.reload();
  t.match(
    await visitorFrom(service, owner, { 'X-Forwarded-For': '10.1.2.3' }),
    { country: 'DE' },
    'the former one stays',
  );
});

t.test("[2 visitor] a proxy's country is trusted as far as the proxy", async (t) => {
  const told = async (env: Record<string, string>, headers: Record<string, string>) => {
    const service = await startService(t, { env });
    const owner = await service.workspace();
    const { country } = await visitorFrom(service, owner, headers);
    await service.stop();
    return country;
  };
  t.equal(await told({}, { 'CF-IPCountry': 'FR' }), null, 'no one is in front');
  const trusted = { TRUST_PROXY: 'on' };
  t.equal(await told(trusted, { 'CF-IPCountry': 'fr' }), 'FR');
  t.equal(await told(trusted, { 'X-Vercel-IP-Country': 'SE' }), 'SE');
  for (const unknown of ['XX', 'T1', 'ZZ', '', 'France', '<b>'])
    t.equal(await told(trusted, { 'CF-IPCountry': unknown }), null, unknown);
  t.equal(await told({ ...trusted, GEO_COUNTRY_HEADER: 'X-Geo' }, { 'X-Geo': 'IT', 'CF-IPCountry': 'FR' }), 'IT');
  t.equal(await told({ ...trusted, GEO_COUNTRY_HEADER: 'none' }, { 'CF-IPCountry': 'FR' }), null);
  t.equal(
    await told({ ...trusted, GEO_DB: databaseIn(t) }, { 'X-Forwarded-For': '81.2.69.160', 'CF-IPCountry': 'DE' }),
    'FR',
    "the file's value takes precedence",
  );
  t.equal(
    await told({ ...trusted, GEO_DB: databaseIn(t) }, { 'X-Forwarded-For': '10.0.0.1', 'CF-IPCountry': 'DE' }),
    'DE',
  );
});
