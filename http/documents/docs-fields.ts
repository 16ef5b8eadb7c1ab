// The fields of a JSON Schema as a table for the page at /docs, including nested fields.

import { escapeHtml } from '../../engine/text.ts';

/** TypeBox stores JSON Schema; the page shows an object's own fields. */
interface Shown {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly anyOf?: readonly Shown[];
  readonly allOf?: readonly Shown[];
  readonly items?: Shown;
  readonly properties?: Readonly<Record<string, Shown>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A collapsed table of the fields; empty if there are none. */
export function fieldTable(title: string, schema: unknown): string {
  const { properties, required = [] } = (schema ?? {}) as Shown;
  if (properties === undefined || Object.keys(properties).length === 0) return '';
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code>${required.includes(name) ? '' : ' <small>optional</small>'}</th><td>${escapeHtml(typeOf(field))}${nested(field)}</td><td>${prose(field.description ?? '')}</td></tr>`,
  );
  return `<details><summary>${escapeHtml(title)}</summary><table>${rows.join('')}</table></details>`;
}

/** The nested fields of a field. */
function nested(field: Shown): string {
  if (field.properties !== undefined) return fieldTable('Fields', field);
  if (field.items !== undefined) return nested(field.items);
  return (field.anyOf ?? []).map(nested).join('');
}

function typeOf(field: Shown): string {
  if (field.enum !== undefined) return field.enum.join(' | ');
  if (field.const !== undefined) return String(field.const);
  const several = field.anyOf ?? field.allOf;
  if (several !== undefined) return several.map(typeOf).join(field.anyOf === undefined ? ', ' : ' | ');
  if (field.items !== undefined)
    return `list of ${typeOf(field.items)}${field.maxItems === undefined ? '' : `, at most ${field.maxItems}`}`;
  if (field.properties !== undefined && Object.keys(field.properties).length > 0)
    return `{${Object.keys(field.properties).join(', ')}}`;
  const range = rangeOf(field);
  return `${field.format ?? field.type ?? 'any'}${range === '' ? '' : `, ${range}`}`;
}

function rangeOf(field: Shown): string {
  const low = field.minimum ?? field.minLength;
  const high = field.maximum ?? field.maxLength;
  const unit = field.type === 'string' ? ' characters' : '';
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`;
  if (high !== undefined) return `at most ${high}${unit}`;
  return low === undefined ? '' : `at least ${low}${unit}`;
}

/** A text of the documents, with code in backticks. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
