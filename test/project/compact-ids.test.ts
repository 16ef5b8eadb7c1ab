import fc from 'fast-check';
import t from 'tap';
import { compactId, hashOf, workspaceIdIn } from '../../engine/directory/compact-ids.ts';

t.test('a compact id names its workspace, whatever follows it; anything else names nothing', async (t) => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.string(),
      (workspaceId, secret) => workspaceIdIn(compactId(workspaceId) + secret) === workspaceId,
    ),
  );
  for (const text of ['', 'short', '!'.repeat(40), 'aaaaaaaaaaaaaaaaaaaaa'])
    t.equal(workspaceIdIn(text), undefined, text);
});

t.test('values that are only compared are stored as hashes', async (t) => {
  t.equal(hashOf('a').length, 43);
  t.not(hashOf('a'), hashOf('b'));
});
