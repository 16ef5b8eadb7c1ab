// Opens the services that conversations come from, each in a thread for its import: a service that answers too much ends
// its own import, and no one else's.

import { createThread, ThreadFailed } from '../thread.ts';
import { type ForeignSource, type ServiceAccess, SourceFailed, type SourceNetwork, serviceNames } from './foreign.ts';
import type { Failure, methods } from './source-thread.ts';

export interface ForeignSources {
  open(access: ServiceAccess): ForeignSource;
  close(): Promise<void>;
}

/** A page's list, or a conversation with all of its pages. A service that takes longer is asked again later. */
const timeoutMs = 2 * 60_000;
/** An answer of 4 MiB takes about twenty times as much at worst, and is then refused with the thread. */
const heapMb = { young: 4, old: 96 };

export function createForeignSources(network: SourceNetwork): ForeignSources {
  const underWay = new Set<ForeignSource>();
  return {
    open(access) {
      const name = serviceNames[access.kind];
      const thread = createThread<typeof methods>({
        file: 'workers/imports/source-thread.ts',
        title: 'import',
        maxWaiting: 1,
        timeoutMs,
        heapMb,
        data: { access, network },
      });
      const source: ForeignSource = {
        page: (cursor) => thread.call('page', { cursor }).then(resultOf, (error) => failed(name, error)),
        conversation: (index) => thread.call('conversation', { index }).then(resultOf, (error) => failed(name, error)),
        async close() {
          underWay.delete(source);
          await thread.stop();
        },
      };
      underWay.add(source);
      return source;
    },
    async close() {
      await Promise.all([...underWay].map((source) => source.close()));
    },
  };
}

function resultOf<Result extends object>(result: Result | Failure): Result {
  if (!('failed' in result)) return result;
  const { problem, message, retryAfterMs } = result.failed;
  throw new SourceFailed(problem, message, { retryAfterMs });
}

function failed(name: string, error: unknown): never {
  if (!(error instanceof ThreadFailed)) throw error;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY')
    throw new SourceFailed('final', `An answer of ${name} needs more memory than an import may use.`, { cause: error });
  throw new SourceFailed('passing', `${name} took too long.`, { cause: error });
}
