// A node's lines to all NATS servers are cut, or fall silent, and are mended.

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { clusterOptions, openStore, operator, skip, startCluster } from '../support/nats.ts';
import { NatsLines } from './processes/nats-lines.ts';

t.setTimeout(300_000);

t.test(
  '[cluster] what is appended while the lines are cut or silent is taken once they are mended',
  { skip },
  async (t) => {
    const servers = await startCluster(t, 3, { isUnadvertised: true });
    const lines = await NatsLines.start(t, servers);
    const { logs } = await openStore(t, lines.url, clusterOptions(lines.url, { replicas: 3 }));
    const { connection } = await operator(t, servers[0]?.url ?? '');
    const never = new AbortController().signal;
    let expected = 0;
    for (const how of ['silent', 'refused'] as const) {
      expected = await logs.append('w', { id: randomUUID(), expected, bytes: Buffer.from(how) }, never);
      lines.cut(how);
      let isTaken = false;
      const appended = logs
        .append('w', { id: randomUUID(), expected, bytes: Buffer.from('late') }, never)
        .then((sequence) => {
          isTaken = true;
          return sequence;
        });
      // Whoever has a line of its own goes on.
      await connection.flush();
      t.notOk(isTaken, how);
      lines.mend();
      const last = expected;
      expected = await appended;
      t.ok(expected > last, how);
    }
  },
);
