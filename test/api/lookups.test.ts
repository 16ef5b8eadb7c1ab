// A lookup by a caller's word finds only what was stored under it, never members that every object has.

import t from 'tap';
import { acceptedType, isBorneOut, safeFilename, servedType } from '../../engine/workspace/media-types.ts';
import { wordingFor } from '../../http/widget/strings.ts';

const everybodys = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

t.test('no file type and no language is named like a member of every object', async (t) => {
  for (const word of everybodys) {
    t.equal(acceptedType(word), undefined, word);
    t.equal(isBorneOut(word, undefined), false, word);
    t.equal(servedType(`a/b/c/x.${word}`), 'application/octet-stream', word);
    t.equal(safeFilename('x', word), 'x', word);
    t.equal(wordingFor([word, 'de']).locale, 'de', word);
  }
});
