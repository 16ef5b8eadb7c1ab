// API keys and one-time codes for the tests of the verification API.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Person, Service } from './service.ts';

export async function makeKey(
  service: Service,
  owner: Person,
  options: { scopes?: readonly string[]; mode?: 'live' | 'test' } = {},
): Promise<string> {
  const { scopes = ['verify'], mode = 'live' } = options;
  const { body } = await service.post('/api-keys', { name: 'A key', scopes, mode }, owner.token);
  return body.key;
}

export interface Spoken {
  readonly to: string;
  readonly text: string;
}

/** Messages that the simulated carrier sent (`sms`) or spoke (`call`), oldest first. */
export async function carried(service: Service, kind: 'sms' | 'call'): Promise<Spoken[]> {
  await service.settled();
  const folder = join(service.dataDir, 'outbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith(`.${kind}`))
    .sort()
    .map((name) => {
      const [, to = '', text = ''] = /^To: (\S+)\n\n([\s\S]*)\n$/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
      return { to, text };
    });
}

/** The code of the next mail to the address. */
export async function mailedCode(service: Service, to: string): Promise<string> {
  return /is (\d{4,8})\./.exec((await service.mail(to)).text)?.[1] ?? '';
}

/** A different code of the same length. */
export function wrongCode(code: string): string {
  return code.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
}
