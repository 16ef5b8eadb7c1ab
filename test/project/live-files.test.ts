// What `npm run dev` serves: bundles rebuilt after a change, and pages that reload.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createLiveFiles } from '../../bench/live-files.ts';
import type { CompressedFile } from '../../http/browser/compressed-file.ts';
import type { PageFile } from '../../workers/browser-bundler.ts';

const textOf = async (file: CompressedFile | undefined): Promise<string> =>
  Buffer.from((await file?.bytes('identity')) ?? '').toString();

t.test('a change of a source is a new bundle, and the pages that wait hear of it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'live-files-'));
  let builds = 0;
  let isBroken = false;
  const reported: unknown[] = [];
  const live = createLiveFiles({
    folders: [folder],
    async bundlePages() {
      if (isBroken) throw new Error('app.tsx:1:7: <b> expected');
      builds += 1;
      const named = (name: string): PageFile => ({
        name,
        text: `${builds}`,
        source: `http/pages/${name}`,
      });
      return ['app.tsx', 'styles.css', 'service-worker.ts'].map(named);
    },
    bundle: async () => `widget of build ${builds}`,
    report: (error) => reported.push(error),
  });
  t.teardown(() => {
    live.close();
    rmSync(folder, { recursive: true });
  });
  const versionOf = (html: string): string => /assets\/reload-([\w-]+)\.js/.exec(html)?.[1] ?? '';

  const html = await textOf(await live.pageFiles.document());
  const version = versionOf(html);
  t.match(html, '/assets/app.tsx', 'the document of the service');
  t.equal(await textOf(await live.pageFiles.file('app.tsx')), '1');
  t.equal(await textOf(await live.widgetFiles.app()), 'widget of build 1');
  t.match(await textOf(await live.pageFiles.file(`reload-${version}.js`)), 'location.reload()');
  t.equal(await live.pageFiles.file('none.js'), undefined);

  const waiting = live.pageFiles.file(`after-${version}.js`);
  writeFileSync(join(folder, 'title.ts'), 'export {};');
  const next = await textOf(await waiting);
  t.not(next, version);
  t.equal(versionOf(await textOf(await live.pageFiles.document())), next);
  t.equal(await textOf(await live.pageFiles.file('app.tsx')), '2', 'bundled again');
  t.equal(await textOf(await live.widgetFiles.app()), 'widget of build 2');
  t.equal(await textOf(await live.pageFiles.file(`after-${version}.js`)), next, 'a page that asks late hears at once');

  isBroken = true;
  const afterNext = live.pageFiles.file(`after-${next}.js`);
  writeFileSync(join(folder, 'title.ts'), 'const = 1;');
  await afterNext;
  const failed = await textOf(await live.pageFiles.document());
  t.match(failed, 'app.tsx:1:7: &lt;b&gt; expected', 'the error is on the page');
  t.match(reported, [{ message: 'app.tsx:1:7: <b> expected' }], 'and in the terminal');
  t.not(versionOf(failed), '', 'which reloads, too');

  const last = live.pageFiles.file(`after-${versionOf(failed)}.js`);
  live.close();
  t.equal(await textOf(await last), versionOf(failed), 'nothing waits once it is closed');
});
