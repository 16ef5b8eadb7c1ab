// A simulated carrier that needs no account: its inventory is derived from the area code, calls arrive by the signed
// webhook (npm run simulate:call), orders have no effect but their answers, and its SMS are files in the outbox folder.

import { createHash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { AvailableNumber, Carrier, NumberKind, NumberSearch, OutgoingSms } from './carrier.ts';

/** Numbers on offer per area code or country. */
const inventorySize = 200;
const tollFreeCodes: ReadonlySet<string> = new Set(['800', '833', '844', '855', '866', '877', '888']);
/** Always sold to another buyer between search and claim. */
export const alwaysTaken = '+15005550000';
const simulatedCosts: Readonly<Record<NumberKind, string>> = { local: '1.15', tollfree: '2.15', international: '3.00' };

const localities: Readonly<Record<string, string>> = {
  '202': 'Washington, DC',
  '206': 'Seattle, WA',
  '212': 'New York, NY',
  '213': 'Los Angeles, CA',
  '214': 'Dallas, TX',
  '215': 'Philadelphia, PA',
  '303': 'Denver, CO',
  '305': 'Miami, FL',
  '312': 'Chicago, IL',
  '403': 'Calgary, AB',
  '404': 'Atlanta, GA',
  '408': 'San Jose, CA',
  '415': 'San Francisco, CA',
  '416': 'Toronto, ON',
  '503': 'Portland, OR',
  '512': 'Austin, TX',
  '514': 'Montreal, QC',
  '602': 'Phoenix, AZ',
  '604': 'Vancouver, BC',
  '613': 'Ottawa, ON',
  '617': 'Boston, MA',
  '619': 'San Diego, CA',
  '646': 'New York, NY',
  '702': 'Las Vegas, NV',
  '713': 'Houston, TX',
  '902': 'Halifax, NS',
};

/** International inventory: the calling code, the prefix after it, the remaining digits, and the name. */
const countries: readonly {
  readonly code: string;
  readonly prefix: string;
  readonly digits: number;
  readonly locality: string;
}[] = [
  { code: '44', prefix: '2079', digits: 6, locality: 'London, United Kingdom' },
  { code: '49', prefix: '3023', digits: 6, locality: 'Berlin, Germany' },
  { code: '33', prefix: '142', digits: 6, locality: 'Paris, France' },
  { code: '353', prefix: '153', digits: 5, locality: 'Dublin, Ireland' },
  { code: '61', prefix: '283', digits: 6, locality: 'Sydney, Australia' },
];

export function simulatedCarrier(options: { outboxFolder: string }): Carrier {
  /** The file is complete or not there. */
  async function leave(message: OutgoingSms, kind: 'sms' | 'call'): Promise<string> {
    const path = join(options.outboxFolder, `${message.id}.${message.workspaceId}.${kind}`);
    await mkdir(options.outboxFolder, { recursive: true, mode: 0o700 });
    const file = await open(`${path}.part`, 'w');
    try {
      await file.writeFile(`To: ${message.to}\n\n${message.body}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.part`, path);
    return path;
  }

  return {
    provider: 'simulated',
    async search(wanted) {
      const found: AvailableNumber[] = [];
      const monthlyCost = simulatedCosts[wanted.kind];
      for (const { e164, locality } of inventoryOf(wanted)) {
        if (found.length >= wanted.limit) break;
        if (!wanted.isHeld(e164)) found.push({ e164, monthlyCost, locality });
      }
      return found;
    },
    async buy({ e164 }) {
      return e164 === alwaysTaken
        ? { state: 'taken' }
        : { state: 'bought', providerDidId: `SIM${digestOf(e164).toString('hex').slice(0, 24)}` };
    },
    async releaseIfBought() {},
    release: async (providerDidId) => `${providerDidId} is back in the simulated pool`,
    steer: async (call, order) => `${call.carrierCallId}: ${order.kind}`,
    sendSms: (sms) => leave(sms, 'sms'),
    speak: (message) => leave(message, 'call'),
  };
}

/** The same numbers in the same order every time, without duplicates. */
function* inventoryOf(wanted: NumberSearch): Generator<{ e164: string; locality: string }> {
  const seen = new Set<string>();
  for (let index = 0; index < inventorySize; index += 1) {
    const one = numberAt(wanted, index);
    if (one === undefined || seen.has(one.e164)) continue;
    seen.add(one.e164);
    yield one;
  }
}

function numberAt(wanted: NumberSearch, index: number): { e164: string; locality: string } | undefined {
  const { kind, areaCode } = wanted;
  if (kind === 'international') {
    const offered = areaCode === undefined ? countries : countries.filter(({ code }) => code === areaCode);
    const country = offered[index % Math.max(1, offered.length)];
    if (country === undefined) return undefined;
    const rest = String(digestOf(`${country.code}:${index}`).readUInt32BE(0) % 10 ** country.digits).padStart(
      country.digits,
      '0',
    );
    return { e164: `+${country.code}${country.prefix}${rest}`, locality: country.locality };
  }
  if (areaCode === undefined || tollFreeCodes.has(areaCode) !== (kind === 'tollfree') || areaCode.endsWith('11'))
    return undefined;
  const digest = digestOf(`${areaCode}:${index}`);
  // 220 to 989, except those ending in 11, which are services.
  const exchange = 220 + (digest.readUInt16BE(0) % 770);
  const line = String(digest.readUInt16BE(2) % 10_000).padStart(4, '0');
  const locality = kind === 'tollfree' ? 'Toll-free' : (localities[areaCode] ?? `Area code ${areaCode}`);
  return { e164: `+1${areaCode}${exchange % 100 === 11 ? exchange + 1 : exchange}${line}`, locality };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
