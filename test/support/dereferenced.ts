// An OpenAPI document with every reference replaced by its schema or response.

/** Those without a route of their own. */
const kept = ['Error', 'VerificationError', 'OAuthError', 'FieldErrors'];

export function dereferenced<Document extends { readonly components: object }>(document: Document): Document {
  const components = document.components as Readonly<Record<string, Readonly<Record<string, object>>>>;
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(walk);
    const [, kind = '', name = ''] =
      '$ref' in value && typeof value.$ref === 'string'
        ? (/^#\/components\/(schemas|responses)\/(.+)$/.exec(value.$ref) ?? [])
        : [];
    if (name !== '' && !kept.includes(name)) return walk(components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part)]));
  };
  // The same document, with references resolved.
  return walk(document) as Document;
}
