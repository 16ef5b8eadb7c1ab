// Members of records that need a scope beyond that of the route. They are marked in the schema, which documents them,
// and left out of everything that a key or an app receives. Signed-in agents receive all members. Decisions "Settled
// after the audit".

import Type, { type TSchema } from 'typebox';
import { allows, type Grant, type Scope } from '../../engine/rights/scopes.ts';

/** `*`: only a key with every scope may see it. */
export type MemberScope = Scope | '*';

/** Returns the part of a value that a grant allows. Never changes the value, which may be an actor's state. */
export type LeaveOut = (value: unknown, grant: Pick<Grant, 'scopes'>) => unknown;

/**
 * The reader of a streamed reply lost its access: the connection is dropped, so that the reader notices that the rest
 * is missing.
 */
export class RightsEnded extends Error {
  override readonly name = 'RightsEnded';

  constructor() {
    super("the requester's access ended");
  }
}

const mark = 'x-scope';

/** A member for callers with the scope, and for signed-in agents. */
export function behind<Schema extends TSchema>(scope: MemberScope, schema: Schema) {
  // A copy that keeps the properties that TypeBox hides in a schema; a spread would lose them.
  const copy: Schema & { description?: string } = Object.defineProperties(
    Object.create(null),
    Object.getOwnPropertyDescriptors(schema),
  );
  const rule =
    scope === '*'
      ? 'Omitted for apps, and for keys without the scope `*`.'
      : `Omitted for keys and apps without ${scope}.`;
  return Type.Optional(
    Object.assign(copy, {
      [mark]: scope,
      description: copy.description === undefined ? rule : `${copy.description} ${rule}`,
    }),
  );
}

type Behind<Members extends Record<string, TSchema>> = {
  [Name in keyof Members]: ReturnType<typeof behind<Members[Name]>>;
};

/** Members for callers with the scope, and for signed-in agents. */
export function behindEach<Members extends Record<string, TSchema>>(
  scope: MemberScope,
  members: Members,
): Behind<Members> {
  // Each name with its own schema.
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, behind(scope, schema)]),
  ) as Behind<Members>;
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly [mark]?: MemberScope;
}

interface Member {
  readonly scope: MemberScope | undefined;
  readonly within: LeaveOut | undefined;
}

/** Undefined for a schema without such members. */
export function leaverOf(schema: TSchema): LeaveOut | undefined {
  // JSON Schema, as TypeBox stores it.
  return leaverOfShape(schema as Shape);
}

function leaverOfShape(shape: Shape): LeaveOut | undefined {
  if (shape.items !== undefined) {
    const ofItem = leaverOfShape(shape.items);
    return ofItem && ((value, grant) => (Array.isArray(value) ? value.map((item) => ofItem(item, grant)) : value));
  }
  if (shape.anyOf !== undefined) {
    const [one, ...others] = shape.anyOf.flatMap((member) => leaverOfShape(member) ?? []);
    if (others.length > 0) throw new Error('members with their own scope are ambiguous in a choice between records');
    return one;
  }
  const members = new Map<string, Member>();
  for (const [name, field] of Object.entries(shape.properties ?? {})) {
    const member: Member = { scope: field[mark], within: leaverOfShape(field) };
    if (member.scope !== undefined || member.within !== undefined) members.set(name, member);
  }
  return members.size === 0 ? undefined : (value, grant) => withoutMembers(value, members, grant);
}

function withoutMembers(value: unknown, members: ReadonlyMap<string, Member>, grant: Pick<Grant, 'scopes'>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const told: Record<string, unknown> = { ...value };
  for (const [name, { scope, within }] of members) {
    if (!(name in told)) continue;
    if (scope !== undefined && !allows(grant, scope === '*' ? null : scope)) delete told[name];
    else if (within !== undefined) told[name] = within(told[name], grant);
  }
  return told;
}
