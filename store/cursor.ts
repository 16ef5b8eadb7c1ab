/** A place in a list ordered by (time, id): the row that was last seen. */
export interface Cursor {
  readonly at: string;
  readonly id: string;
}
