// Tables as text (RFC 4180): reading those of other systems, whatever their separator and encoding, and writing one.

const separators = [',', ';', '\t'] as const;
/** Larger tables are imported in parts. */
export const maxRows = 100_000;

/** UTF-8, or else what older programs on Windows write. */
export function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** The rows with their cells. Empty rows are left out. */
export function readTable(text: string): string[][] {
  const source = text.replace(/^\ufeff/, '');
  const separator = separatorOf(source);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = (): void => {
    row.push(cell);
    if (row.some((one) => one.trim() !== '')) rows.push(row);
    row = [];
    cell = '';
  };
  for (let at = 0; at < source.length && rows.length <= maxRows; at += 1) {
    const char = source[at] ?? '';
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === separator) {
      row.push(cell);
      cell = '';
    } else if (char === '\n') endRow();
    else if (char !== '\r') cell += char;
  }
  if (cell !== '' || row.length > 0) endRow();
  return rows;
}

/** The one that the first line has most of, outside of quotes. */
function separatorOf(source: string): string {
  const line = (/^(?:"(?:[^"]|"")*"|[^"\n])*/.exec(source)?.[0] ?? '').replace(/"(?:[^"]|"")*"/g, '');
  const count = (separator: string): number => line.split(separator).length;
  return [...separators].sort((a, b) => count(b) - count(a))[0] ?? ',';
}

export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(safeCell).join(',')).join('\r\n');
}

/** A cell that a spreadsheet would run as a formula begins with an apostrophe (OWASP, CSV injection). */
function safeCell(text: string): string {
  const safe = /^[=@\t\r]|^[+-](?![\d ().-]*$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
