// Where a number rings: everyone, a department or one agent. The fields are shared by claiming and changing a number.

import type { JSX } from 'preact';
import { SelectField } from '../../design/field.tsx';
import { agentName, departmentName, departments, joinedAgents } from '../../people.ts';
import type { PhoneNumber, RoutingStrategy, VoiceProfile } from '../../records.ts';

export interface Routing {
  readonly routingStrategy: RoutingStrategy;
  /** Empty for none. */
  readonly routingTargetId: string;
}

const strategies: readonly { readonly value: RoutingStrategy; readonly label: string }[] = [
  { value: 'all_agents', label: 'Everyone who takes calls' },
  { value: 'department', label: 'A department' },
  { value: 'specific_agent', label: 'One agent' },
];

export function routingWords({
  routingStrategy,
  routingTargetId,
}: Pick<PhoneNumber, 'routingStrategy' | 'routingTargetId'>): string {
  if (routingStrategy === 'department') return departmentName(routingTargetId);
  return routingStrategy === 'specific_agent' ? agentName(routingTargetId) : 'Everyone';
}

/** In the API's form. */
export function routingBody({ routingStrategy, routingTargetId }: Routing): {
  routingStrategy: RoutingStrategy;
  routingTargetId: string | null;
} {
  return {
    routingStrategy,
    routingTargetId: routingStrategy === 'all_agents' || routingTargetId === '' ? null : routingTargetId,
  };
}

export function RoutingFields({
  value,
  onValue,
  errorOf,
}: {
  readonly value: Routing;
  readonly onValue: (value: Routing) => void;
  readonly errorOf: (name: string) => string | undefined;
}): JSX.Element {
  const { routingStrategy, routingTargetId } = value;
  const choices =
    routingStrategy === 'department'
      ? [...departments.value.values()].map(({ id, name }) => ({ value: id, label: name }))
      : joinedAgents.value
          .filter(({ channels }) => channels.includes('calls'))
          .map(({ id, name }) => ({ value: id, label: name }));
  return (
    <div class="columns">
      <SelectField
        label="Rings"
        value={routingStrategy}
        choices={strategies}
        onValue={(next) => onValue({ routingStrategy: next, routingTargetId: '' })}
        error={errorOf('routingStrategy')}
      />
      {routingStrategy !== 'all_agents' && (
        <SelectField
          label={routingStrategy === 'department' ? 'Which department' : 'Which agent'}
          value={routingTargetId}
          choices={[{ value: '', label: choices.length === 0 ? 'There is none yet' : 'Choose one' }, ...choices]}
          onValue={(next) => onValue({ routingStrategy, routingTargetId: next })}
          error={errorOf('routingTargetId')}
        />
      )}
    </div>
  );
}

export function VoiceField({
  profiles,
  value,
  onValue,
  error,
}: {
  readonly profiles: readonly VoiceProfile[];
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error?: string | undefined;
}): JSX.Element {
  return (
    <SelectField
      label="Greeting"
      value={value}
      choices={[
        { value: '', label: 'None, ring at once' },
        ...profiles.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onValue={onValue}
      error={error}
      hint="Callers hear it first. Add greetings below."
    />
  );
}
