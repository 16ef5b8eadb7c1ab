// CSV (RFC 4180) that is safe to open in a spreadsheet: text that could be a formula gets a leading apostrophe.

export type Cell = string | number | boolean | null;

/**
 * Text that spreadsheets compute, also after white space or quotes. Where lists are separated by semicolons or tabs,
 * they treat a quote after a comma as a letter, and start a cell at each separator, or a row at each line end. Numbers
 * are written as numbers and do not pass through here.
 */
const formulas = /(^|[;\t\r\n])(?=[\s"']*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/** With a line end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = cell.replace(formulas, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
