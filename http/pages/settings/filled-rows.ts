// Lists that are typed row by row, with rows that may be empty.

/** Without the empty rows. */
export function filled(rows: readonly string[]): readonly string[] {
  return rows.map((row) => row.trim()).filter((row) => row !== '');
}

/** The index of this row among those that are sent. */
export function placeAmongFilled(rows: readonly string[], index: number): number {
  return filled(rows.slice(0, index)).length;
}
