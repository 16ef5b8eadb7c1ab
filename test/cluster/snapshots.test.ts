import t from 'tap';
import { isSnapshotDue } from '../../engine/runtime/cluster/snapshots.ts';

const mib = 1024 * 1024;

t.test('[cluster snapshots] one is due when the log is longer than the file, and than 8 MiB', async (t) => {
  const due = (logBytes: number, fileBytes: number): boolean => isSnapshotDue({ logBytes, fileBytes });
  t.notOk(due(8 * mib, mib));
  t.ok(due(8 * mib + 1, mib));
  t.notOk(due(50 * mib, 50 * mib), 'a large file is not packed for each 8 MiB');
  t.ok(due(50 * mib + 1, 50 * mib));
});
