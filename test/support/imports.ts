// Imports, as tests wait for them.

import type { Person, Service } from './service.ts';

/** Resolves when it is over, with its record. */
export async function over(service: Service, owner: Person, importId: string): Promise<any> {
  for (;;) {
    await service.settled();
    const { body } = await service.get(`/imports/${importId}`, owner.token);
    if (body.status !== 'queued' && body.status !== 'running') return body;
    // The mail is read by a thread.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
