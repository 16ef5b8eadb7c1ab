// CSV as RFC 4180 has it, safe to open in a spreadsheet: text that one would take for a formula is led by an apostrophe.

export type Cell = string | number | boolean | null;

/** What spreadsheets compute, also behind white space. Numbers are written as numbers and never come here. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** With its line end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
