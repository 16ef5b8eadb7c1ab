// The changes of an audit log entry, field by field: the fields of before and after that differ, as text.

import type { AuditEntry } from '../../records.ts';
import { type Names, throughFields } from './audit-sentences.ts';

export interface Change {
  readonly name: string;
  /** Undefined if there is no value. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Long values, such as bodies of dropped mails, are cut. */
const maxChars = 2000;

export function changesOf(
  { before, after, context }: Pick<AuditEntry, 'before' | 'after' | 'context'>,
  names: Names,
): readonly Change[] {
  const flatBefore = flat(before);
  const flatAfter = flat(after);
  const fields = [...new Set([...flatBefore.keys(), ...flatAfter.keys()])];
  const changed = fields
    .filter((name) => JSON.stringify(flatBefore.get(name)) !== JSON.stringify(flatAfter.get(name)))
    .map((name) => ({
      name: fieldInWords(name),
      before: valueInWords(name, flatBefore.get(name), names),
      after: valueInWords(name, flatAfter.get(name), names),
    }))
    .filter((change) => change.before !== undefined || change.after !== undefined);
  const told = [...flat(context)]
    .filter(([name]) => !throughFields.some((field) => name.startsWith(`${field}.`)))
    .map(([name, value]) => ({ name: fieldInWords(name), before: undefined, after: valueInWords(name, value, names) }))
    .filter((change) => change.after !== undefined);
  return [...changed, ...told];
}

/** `{routing: {mode}}` becomes `routing.mode`; lists stay whole. */
function flat(record: AuditEntry['before'], prefix = ''): Map<string, unknown> {
  const entries = Object.entries(record ?? {}).flatMap(([name, value]): [string, unknown][] =>
    isPlain(value) ? [...flat(value, `${prefix}${name}.`)] : [[prefix + name, value]],
  );
  return new Map(entries);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** "maxOpenChatsPerAgent" becomes "Max open chats per agent". */
function fieldInWords(name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const words = last
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "Local part: billing, department id: Sales", for an item of a list. */
function partsInWords(record: Readonly<Record<string, unknown>>, names: Names): string {
  const said = Object.entries(record).flatMap(([name, value]) => {
    const words = valueInWords(name, value, names);
    return words === undefined ? [] : [`${fieldInWords(name).toLowerCase()}: ${words}`];
  });
  const text = said.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function valueInWords(name: string, value: unknown, names: Names): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value))
    return value.length === 0
      ? 'None'
      : value.map((one: unknown) => valueInWords(name, one, names) ?? '').join(value.some(isPlain) ? '\n' : ', ');
  if (isPlain(value)) return partsInWords(value, names);
  if (typeof value !== 'string') return JSON.stringify(value);
  if (/(?:agentId|memberIds)$/i.test(name)) return names.agent(value);
  if (/departmentId$/i.test(name)) return names.department(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return names.time(value);
  return value.length > maxChars ? `${value.slice(0, maxChars)}…` : value;
}
