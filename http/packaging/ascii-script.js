// Scripts as ASCII. V8 keeps a script's text for as long as it runs, with two bytes for each character if any of them is
// not Latin-1. Plain JavaScript, see start.js.

/**
 * esbuild writes ASCII, except in comments, regular expressions and tagged templates. An escape means the same in a
 * regular expression, but not after a backslash, and not in a template's raw text: throws for these.
 *
 * @param {string} script
 */
export function asciiOf(script) {
  const [wrong] = /\\[^\x00-\x7f]|\braw`[^`]*[^\x00-\x7f]/.exec(script) ?? [];
  if (wrong !== undefined) throw new Error(`the program has ${wrong}, which cannot be escaped`);
  return script.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
