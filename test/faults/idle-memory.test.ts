import t from 'tap';
import { idleWatch } from '../../http/process/memory.ts';
import { tempFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';

t.test('[speed and memory] a fresh process is below 130 MB', async (t) => {
  const service = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t) });
  // Answered after the memory of the start was released.
  t.equal((await fetch(`${service.url}/readyz`)).status, 200);
  const mb = service.residentMb();
  t.ok(mb < 130, `${mb.toFixed(0)} MB`);
});

t.test('memory is given back again after a busy time that an idle one follows, once', async (t) => {
  const minute = 60_000;
  const quiet = { workMs: 500, spanMs: minute };
  const busy = { workMs: 20_000, spanMs: minute };
  const times = (samples: { workMs: number; spanMs: number }[]): number[] => {
    const isTime = idleWatch();
    return samples.flatMap((sample, index) => (isTime(sample) ? [index] : []));
  };
  t.same(
    times(
      Array(60)
        .fill(quiet)
        .map((sample) => ({ ...sample, workMs: 50 })),
    ),
    [],
    'not when nothing was done',
  );
  t.same(times([busy, ...Array(20).fill(quiet)]), [5], 'after five quiet minutes, once');
  t.same(
    times([busy, quiet, quiet, busy, quiet, quiet, quiet, busy, quiet, quiet]),
    [],
    'not in the middle of the day',
  );
  t.same(times([busy, ...Array(5).fill(quiet), busy, ...Array(5).fill(quiet)]), [5, 11], 'and again');
});
