// Custom fields of a contact as rows to edit, and back. A value is text, a number, yes or no; what a client of the API
// left empty stays empty until somebody writes into it.

export type FieldValue = string | number | boolean | null;
export type FieldKind = 'text' | 'number' | 'yesNo';

export interface FieldRow {
  /** Of this row on the page; never sent. */
  readonly id: number;
  readonly name: string;
  readonly kind: FieldKind;
  readonly text: string;
}

export const maxFields = 50;
let lastId = 0;

export function newRow(): FieldRow {
  lastId += 1;
  return { id: lastId, name: '', kind: 'text', text: '' };
}

export function rowsOf(fields: object): FieldRow[] {
  return Object.entries(fields).map(([name, value]) => ({ ...newRow(), name, ...editable(value) }));
}

function editable(value: unknown): { kind: FieldKind; text: string } {
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  if (typeof value === 'boolean') return { kind: 'yesNo', text: value ? 'yes' : 'no' };
  return { kind: 'text', text: typeof value === 'string' ? value : '' };
}

/** What is wrong with a row, for whoever fills it in; rows that are empty altogether are left out, not wrong. */
export function problemOf(row: FieldRow, rows: readonly FieldRow[]): string | undefined {
  if (isBlank(row)) return undefined;
  const name = row.name.trim();
  if (name === '') return 'Give it a name.';
  if (name.length > 64) return 'Use at most 64 characters.';
  if (rows.some((other) => other.id !== row.id && other.name.trim() === name))
    return 'There is already a field with this name.';
  if (row.kind === 'number' && row.text.trim() !== '' && !Number.isFinite(Number(row.text))) return 'Enter a number.';
  return undefined;
}

/** As the API takes them. Call it when no row has a problem. */
export function fieldsOf(rows: readonly FieldRow[]): Record<string, FieldValue> {
  return Object.fromEntries(rows.filter((row) => !isBlank(row)).map((row) => [row.name.trim(), valueOf(row)]));
}

function valueOf({ kind, text }: FieldRow): FieldValue {
  if (text.trim() === '') return null;
  if (kind === 'number') return Number(text);
  return kind === 'yesNo' ? text === 'yes' : text;
}

/** As another kind, with what of its value has a meaning there. */
export function asKind(row: FieldRow, kind: FieldKind): FieldRow {
  if (kind === 'yesNo') return { ...row, kind, text: row.text === 'no' ? 'no' : 'yes' };
  return { ...row, kind };
}

/** For reading. */
export function readableValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'number' ? new Intl.NumberFormat().format(value) : String(value);
}

function isBlank({ name, text }: FieldRow): boolean {
  return name.trim() === '' && text.trim() === '';
}
