// The connections of one node to every NATS server, each over a proxy, so that this node can be cut off from all of them
// while its clients and the other nodes still reach it.

import { CutLink } from '../../support/cut-link.ts';
import type { NatsServer } from '../../support/nats.ts';
import type { Teardown } from '../../support/service.ts';

/** `refused`: its connections end, and none is accepted. `silent`: nothing passes, and arrives late when mended. */
export type Cut = 'refused' | 'silent';

export class NatsLines {
  readonly #links: readonly CutLink[];

  private constructor(links: readonly CutLink[]) {
    this.#links = links;
  }

  static async start(t: Teardown, servers: readonly NatsServer[]): Promise<NatsLines> {
    return new NatsLines(await Promise.all(servers.map(({ port }) => CutLink.start(t, port))));
  }

  /** As CLUSTER_NATS_URL has it. */
  get url(): string {
    return this.#links.map(({ url }) => url).join(',');
  }

  cut(how: Cut): void {
    for (const link of this.#links) {
      if (how === 'silent') link.silence();
      else link.cut();
    }
  }

  mend(): void {
    for (const link of this.#links) link.mend();
  }
}
