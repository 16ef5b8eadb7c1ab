// Fills the document's examples from a world: its rows in paths and queries, bodies that would succeed. Only examples
// change, so that requests find records where schemathesis would invent ids.

import { type Operation, placesOf } from '../fuzz/requests.ts';
import { stageOf } from '../fuzz/stages.ts';
import type { World } from '../fuzz/world.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  example?: unknown;
}

interface Described extends Pick<Operation, 'operationId'> {
  /** Parameters shared by all operations are references. */
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { example?: unknown }>> };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/** In http/documents/examples.ts. */
const madeUpId = '01939f5e-7c1d-7a3b-9f0e-2b6d1c4e8a70';

/** Modifies the given document. */
export async function exampled(world: World, document: Document): Promise<Document> {
  for (const [path, item] of Object.entries(document.paths))
    for (const operation of Object.values(item)) await giveExamples(world, path, operation);
  return document;
}

async function giveExamples(
  world: World,
  path: string,
  { operationId, parameters, requestBody }: Described,
): Promise<void> {
  // Preparing one call hangs up the calls before it; a ringing one is in the pools.
  const known = operationId.startsWith('call.') ? undefined : await stageOf(world, operationId)?.();
  for (const parameter of parameters) {
    if ('$ref' in parameter) continue;
    const { name } = parameter;
    const value = parameter.in === 'path' ? (known?.params?.[name] ?? rowFor(world, path, name)) : known?.query?.[name];
    if (value !== undefined) parameter.example = value;
  }
  const body = known?.body ?? world.soundBodyOf(operationId)?.();
  if (body instanceof Uint8Array) return;
  for (const content of Object.values(requestBody?.content ?? {}))
    content.example = body ?? withRows(world, content.example);
}

function rowFor(world: World, path: string, name: string): string | undefined {
  const [pooled] = world.pools(placesOf({ path }, name));
  // The pools begin with the caller, which may change little about itself.
  return name === 'agentId' ? world.ours.ids[name] : pooled;
}

/** Replaces the examples' invented ids with those of rows. */
function withRows(world: World, value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withRows(world, one, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withRows(world, one, key)]));
  return value === madeUpId || name === 'serviceId' ? (world.pools(name)[0] ?? value) : value;
}
