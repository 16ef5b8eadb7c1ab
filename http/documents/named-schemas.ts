// Names for schemas that routes share, so that the documents define each once and generated clients get one type for
// it. Schemas are compared by content, because optional parts are copies.

import * as records from '../schemas/records.ts';
import * as reports from '../schemas/reports.ts';
import * as shared from '../schemas/shared.ts';

type Json = Record<string, unknown>;

/**
 * A schema of more than one value: an object with fields, or a choice. References to anything smaller would not be
 * shorter.
 */
function isWorthAName(value: unknown): value is Json {
  return (
    typeof value === 'object' &&
    value !== null &&
    (('properties' in value && (value as Json)['type'] === 'object') || 'enum' in value)
  );
}

const exported: readonly (readonly [string, unknown])[] = Object.entries({ ...shared, ...records, ...reports });
/** By name, as they are exported. */
const named: ReadonlyMap<string, Json> = new Map(
  exported.flatMap(([name, value]) => (isWorthAName(value) ? [[name, value] as const] : [])),
);

/** Replaces named schemas by references and remembers which were used. */
export class SchemaNames {
  readonly #names = new Map([...named].map(([name, schema]) => [JSON.stringify(schema), name]));
  readonly #used = new Set<string>();

  /** The schema with references in place of its parts; a reference if it has a name itself. */
  refer(schema: object): object {
    const name = this.#names.get(JSON.stringify(schema));
    if (name === undefined) return this.#parts(schema);
    this.#used.add(name);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schemas that were referred to, by name. */
  components(): Json {
    const components: Json = {};
    // Parts of used schemas are used too.
    for (const name of this.#used) components[name] = this.#parts(named.get(name) ?? {});
    return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #parts(schema: object): object {
    if (Array.isArray(schema)) return schema.map((part: unknown) => this.#part(part));
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]: [string, unknown]) => [
        key,
        holdsSchemas.has(key)
          ? this.#mapped(value)
          : key === 'items' || key === 'additionalProperties'
            ? this.#part(value)
            : value,
      ]),
    );
  }

  /** A list of schemas, or schemas by name. */
  #mapped(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((part: unknown) => this.#part(part));
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, part]: [string, unknown]) => [name, this.#part(part)]))
      : value;
  }

  #part(part: unknown): unknown {
    return typeof part === 'object' && part !== null ? this.refer(part) : part;
  }
}

const holdsSchemas: ReadonlySet<string> = new Set(['properties', 'anyOf', 'allOf', 'oneOf']);
