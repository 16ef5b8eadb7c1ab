// Records are declared once, as TypeBox objects: their types, their tables' columns and the views of the API derive from
// the declaration. It loads nothing of the database, because the pages read its types.

import Type, { type Static, type TObject, type TSchema } from 'typebox';

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const Id = Type.String({ format: 'uuid' });
export const Time = Type.String({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds.' });
export const Version = Type.Integer({ minimum: 1, description: 'For optimistic locking.' });

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** What a schema describes. Never changed in place, because states in memory are shared. */
export type RecordOf<Schema extends TSchema> = Frozen<Static<Schema>>;

/** The part of a record that `view` describes, in its order. */
export function viewer<View extends TObject>(view: View): (record: RecordOf<View>) => RecordOf<View> {
  const members = Object.keys(view.properties).map((name) => `${name}: record.${name}`);
  // Written as code: a loop over the names takes several times as long.
  return new Function('record', `return { ${members.join(', ')} };`) as (record: RecordOf<View>) => RecordOf<View>;
}
