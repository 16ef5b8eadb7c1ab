// Lists that are typed row by row, some of them left empty.

/** Without the rows that were left empty. */
export function filled(rows: readonly string[]): readonly string[] {
  return rows.map((row) => row.trim()).filter((row) => row !== '');
}

/** Which of the rows that are sent this one is. */
export function placeAmongFilled(rows: readonly string[], index: number): number {
  return filled(rows.slice(0, index)).length;
}
