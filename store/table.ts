// Writes a table whose columns are the members of a record's schema. Lists and objects are stored as JSON, booleans as 0
// or 1. Only the main thread writes, so the threads that read do without schemas: loading TypeBox costs each of them
// about 15 MB.

import Type, { type TObject, type TSchema } from 'typebox';
import type { Database, Value } from './database.ts';
import { fromJson, toJson, toJsonOrNull } from './json.ts';
import type { RecordOf } from './record.ts';

type Stored<Member> = Member extends boolean ? number : Member extends Value ? Member : string;

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
  /** Returns the rowid, if the table has rowids. */
  insert(db: Database, record: Record): number;
  /** Writes every column that is not fixed. */
  update(db: Database, record: Record): void;
}

interface Options<Name> {
  readonly key: Name;
  /** The other columns that never change. */
  readonly fixed?: readonly Name[];
  /** Columns that are not in the record, with the SQL of a new row's value. */
  readonly internal?: Readonly<{ [column: string]: string }>;
}

export function table<Schema extends TObject>(
  name: string,
  schema: Schema,
  { key, fixed = [], internal = {} }: Options<keyof RecordOf<Schema> & string>,
): Table<RecordOf<Schema>> {
  type Record = RecordOf<Schema>;
  type Name = keyof Record & string;
  // The names and the values of a record are those of its schema.
  const members = Object.entries(schema.properties) as readonly (readonly [Name, TSchema])[];
  const columns = members.map(([member, of]) => ({ name: member, valueOf: writerOf(of) }));
  const changing = columns.filter((column) => column.name !== key && !fixed.includes(column.name));
  const names = [...columns.map((column) => column.name), ...Object.keys(internal)];
  const values = [...columns.map(() => '?'), ...Object.values(internal).map((sql) => `(${sql})`)];
  const insert = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${values.join(', ')})`;
  const update = `UPDATE ${name} SET ${changing.map((column) => `${column.name} = ?`).join(', ')} WHERE ${key} = ?`;
  const bound = [...changing, ...columns.filter((column) => column.name === key)];

  return {
    unset: unsetOf(members),
    insert: (db, record) =>
      db.insert(
        insert,
        columns.map((column) => column.valueOf(record[column.name])),
      ),
    update: (db, record) =>
      void db.run(
        update,
        bound.map((column) => column.valueOf(record[column.name])),
      ),
  };
}

/** Parsed, so that copies of it have the shape of a literal and not that of a map. */
function unsetOf<Record>(members: readonly (readonly [string, TSchema])[]): Unset<Record> {
  const unset = members.flatMap(([member, of]): [string, null | []][] =>
    isNullable(of) ? [[member, null]] : Type.IsArray(of) ? [[member, []]] : [],
  );
  return fromJson(toJson(Object.fromEntries(unset)));
}

function writerOf(of: TSchema): (member: unknown) => Value {
  const kinds = kindsOf(of);
  if (kinds.some((kind) => Type.IsArray(kind) || Type.IsObject(kind))) return toJsonOrNull;
  if (kinds.some((kind) => Type.IsBoolean(kind))) return (member) => (member === null ? null : Number(member));
  return (member) => member as Value;
}

const kindsOf = (of: TSchema): TSchema[] => (Type.IsUnion(of) ? of.anyOf.flatMap(kindsOf) : [of]);
const isNullable = (of: TSchema): boolean => kindsOf(of).some((kind) => Type.IsNull(kind));
