// Writes a table whose columns are the members of a record's schema. Lists and objects are stored as JSON. Only the main
// thread writes, so the threads that read do without schemas: loading TypeBox costs each of them about 15 MB.

import Type, { type TObject, type TSchema } from 'typebox';
import type { Database, Value } from './database.ts';
import { fromJson, toJson, toJsonOrNull } from './json.ts';
import type { RecordOf } from './record.ts';

type Stored<Member> = Member extends Value ? Member : string;

/** A record as SQLite returns it. */
export type RowOf<Record> = { readonly [Name in keyof Record]: Stored<Record[Name]> };

/** What a new record is without: null, or an empty list. */
export type Unset<Record> = {
  readonly [Name in keyof Record as null extends Record[Name]
    ? Name
    : Record[Name] extends readonly unknown[]
      ? Name
      : never]: null extends Record[Name] ? null : readonly [];
};

export interface Table<Record> {
  readonly unset: Unset<Record>;
  insert(db: Database, record: Record): void;
  /** Writes every column that is not fixed. */
  update(db: Database, record: Record & { readonly id: string }): void;
}

/** `fixed`: the columns that never change. */
export function table<Schema extends TObject>(
  name: string,
  schema: Schema,
  options: { fixed: readonly (keyof RecordOf<Schema> & string)[] },
): Table<RecordOf<Schema>> {
  type Record = RecordOf<Schema>;
  type Name = keyof Record & string;
  // The names and the values of a record are those of its schema.
  const members = Object.entries(schema.properties) as readonly (readonly [Name, TSchema])[];
  const names = members.map(([member]) => member);
  const json = new Set(members.flatMap(([member, of]) => (isJson(of) ? [member] : [])));
  const changing = names.filter((member) => !options.fixed.includes(member));
  const insert = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  const update = `UPDATE ${name} SET ${changing.map((member) => `${member} = ?`).join(', ')} WHERE id = ?`;
  const valueOf = (record: Record, member: Name): Value =>
    json.has(member) ? toJsonOrNull(record[member]) : (record[member] as Value);

  return {
    unset: unsetOf(members),
    insert: (db, record) =>
      void db.run(
        insert,
        names.map((member) => valueOf(record, member)),
      ),
    update: (db, record) => void db.run(update, [...changing.map((member) => valueOf(record, member)), record.id]),
  };
}

/** Parsed, so that copies of it have the shape of a literal and not that of a map. */
function unsetOf<Record>(members: readonly (readonly [string, TSchema])[]): Unset<Record> {
  const unset = members.flatMap(([member, of]): [string, null | []][] =>
    isNullable(of) ? [[member, null]] : Type.IsArray(of) ? [[member, []]] : [],
  );
  return fromJson(toJson(Object.fromEntries(unset)));
}

const isJson = (of: TSchema): boolean =>
  Type.IsArray(of) || Type.IsObject(of) || (Type.IsUnion(of) && of.anyOf.some(isJson));
const isNullable = (of: TSchema): boolean => Type.IsUnion(of) && of.anyOf.some((option) => Type.IsNull(option));
