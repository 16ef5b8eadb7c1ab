// `npm run docs`: writes what the documentation takes from the code. A test fails while it is stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { settingsTables } from '../process/settings.ts';

const file = join(resolve(import.meta.dirname, '../..'), 'docs/operations/configuration.md');
const [head = ''] = readFileSync(file, 'utf8').split(/^(?=## )/m);
writeFileSync(file, head + settingsTables());
