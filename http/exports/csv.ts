// CSV as RFC 4180 has it, safe to open in a spreadsheet: text that one would take for a formula is led by an
// apostrophe.

export type Cell = string | number | boolean | null;

/**
 * What spreadsheets compute, also behind white space or quotes. Where lists are separated by semicolons or tabs they
 * take a quote behind a comma for
 * a letter, and begin a cell at each of those, or a row at a line's end. Numbers are written as numbers and never come
 * here.
 */
const formulas = /(^|[;\t\r\n])(?=[\s"']*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/** With its line end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = cell.replace(formulas, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
