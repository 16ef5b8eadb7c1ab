// What browsers load, bundled while other bundles are under way.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bundleForBrowsers } from '../../workers/browser-bundler.ts';
import { tempFolder } from '../support/folder.ts';

t.test('[bundles] one that ends leaves the others to end', async (t) => {
  const folder = tempFolder(t);
  process.env['SWITCHBOARD_CACHE_DIR'] = join(folder, 'cache');
  mkdirSync(join(folder, 'many'));
  const names = Array.from({ length: 300 }, (_, index) => `part${index}`);
  for (const name of names) writeFileSync(join(folder, 'many', `${name}.ts`), `export const ${name} = '${name}';\n`);
  const all = names.map((name) => `export * from './many/${name}.ts';\n`).join('');
  writeFileSync(join(folder, 'large.ts'), all);
  writeFileSync(join(folder, 'small.ts'), "export const small = 'small';\n");
  const entries = ['large', 'small', 'large', 'small'];
  const made = await Promise.all(
    entries.map((name) => bundleForBrowsers({ entry: join(folder, `${name}.ts`), as: 'module' })),
  );
  t.match(made[0], /part299/);
  t.equal(made[2], made[0]);
  t.match(made[1], /small/);
  t.equal(made[3], made[1]);
});
