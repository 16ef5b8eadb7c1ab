// From method and path to a route: a tree of path segments, built once. Literal segments win over parameters.

import { fullPath, type Method, type Route } from '../route.ts';

interface Node<Entry> {
  readonly literals: Map<string, Node<Entry>>;
  parameter: Node<Entry> | undefined;
  readonly entries: Map<Method, { readonly entry: Entry; readonly names: readonly string[] }>;
}

export type Match<Entry> =
  | { readonly kind: 'found'; readonly entry: Entry; readonly params: Record<string, string> }
  | { readonly kind: 'otherMethods'; readonly methods: readonly Method[] }
  | { readonly kind: 'none' };

export class Router<Entry> {
  readonly #root: Node<Entry> = newNode();

  add(route: Pick<Route, 'method' | 'path'>, entry: Entry): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of fullPath(route).split('/').slice(1)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1));
        node = node.parameter ??= newNode();
      } else {
        let next = node.literals.get(segment);
        if (next === undefined) {
          next = newNode();
          node.literals.set(segment, next);
        }
        node = next;
      }
    }
    if (node.entries.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    node.entries.set(route.method, { entry, names });
  }

  find(method: string, path: string): Match<Entry> {
    const values: string[] = [];
    const node = this.#walk(this.#root, path.split('/'), 1, values);
    if (node === undefined) return { kind: 'none' };
    // Any string may be a method; the map returns undefined for unknown ones.
    const found = node.entries.get(method as Method);
    if (found === undefined) return { kind: 'otherMethods', methods: [...node.entries.keys()] };
    const params: Record<string, string> = {};
    for (let index = 0; index < found.names.length; index += 1) {
      const value = decoded(values[index] ?? '');
      if (value === undefined) return { kind: 'none' };
      params[found.names[index] ?? ''] = value;
    }
    return { kind: 'found', entry: found.entry, params };
  }

  #walk(node: Node<Entry>, segments: readonly string[], index: number, values: string[]): Node<Entry> | undefined {
    const segment = segments[index];
    if (segment === undefined) return node.entries.size > 0 ? node : undefined;
    const literal = node.literals.get(segment);
    if (literal !== undefined) {
      const found = this.#walk(literal, segments, index + 1, values);
      if (found !== undefined) return found;
    }
    if (node.parameter === undefined || segment === '') return undefined;
    values.push(segment);
    const found = this.#walk(node.parameter, segments, index + 1, values);
    if (found === undefined) values.pop();
    return found;
  }
}

function newNode<Entry>(): Node<Entry> {
  return { literals: new Map(), parameter: undefined, entries: new Map() };
}

function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
