// Custom fields of a contact as rows to edit, and back. A value is a text, a number, or yes or no. A value that an API
// client left empty stays empty until it is edited.

export type FieldValue = string | number | boolean | null;
export type FieldKind = 'text' | 'number' | 'yesNo';

export interface FieldRow {
  /** This row's key on the page; never sent. */
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

/** The problem with a row, as a text; undefined for a valid or entirely empty row, which is not sent. */
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

/** In the API's form. Call it only if no row has a problem. */
export function fieldsOf(rows: readonly FieldRow[]): Record<string, FieldValue> {
  return Object.fromEntries(rows.filter((row) => !isBlank(row)).map((row) => [row.name.trim(), valueOf(row)]));
}

function valueOf({ kind, text }: FieldRow): FieldValue {
  if (text.trim() === '') return null;
  if (kind === 'number') return Number(text);
  return kind === 'yesNo' ? text === 'yes' : text;
}

/** Changes the kind, and keeps the value if it is valid for the new kind. */
export function asKind(row: FieldRow, kind: FieldKind): FieldRow {
  if (kind === 'yesNo') return { ...row, kind, text: row.text === 'no' ? 'no' : 'yes' };
  return { ...row, kind };
}

export function readableValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'number' ? new Intl.NumberFormat().format(value) : String(value);
}

function isBlank({ name, text }: FieldRow): boolean {
  return name.trim() === '' && text.trim() === '';
}
