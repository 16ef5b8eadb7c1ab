// Who a campaign seems to be from: the site, an agent as customers know it, or a name and a picture of its own.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField, TextField } from '../../design/field.tsx';
import type { FormState } from '../../design/form.tsx';
import { joinedAgents } from '../../people.ts';
import { PictureField } from '../../picture-field.tsx';
import type { Agent } from '../../records.ts';
import type { CampaignValues } from './campaign.ts';

const site = 'site';
const other = 'other';

export function SenderFields({ form }: { readonly form: FormState<CampaignValues> }): JSX.Element {
  const { agentName, agentAvatarUrl } = form.values;
  const agent = joinedAgents.value.find(
    (one) => nameOf(one) === agentName && (one.avatarUrl ?? '') === agentAvatarUrl && agentName !== '',
  );
  const [isOther, setOther] = useState(false);
  const isOwn = isOther || (agent === undefined && (agentName !== '' || agentAvatarUrl !== ''));
  const choose = (sender: string): void => {
    setOther(sender === other);
    const chosen = joinedAgents.value.find(({ id }) => id === sender);
    if (sender === other) return;
    form.set('agentName', chosen === undefined ? '' : nameOf(chosen));
    form.set('agentAvatarUrl', chosen?.avatarUrl ?? '');
  };
  return (
    <>
      <SelectField
        label="Sender"
        value={isOwn ? other : (agent?.id ?? site)}
        choices={[
          { value: site, label: 'The site' },
          ...joinedAgents.value.map((one) => ({ value: one.id, label: nameOf(one) })),
          { value: other, label: 'Another name' },
        ]}
        onValue={choose}
        error={isOwn ? undefined : (form.errorOf('content.agentName') ?? form.errorOf('content.agentAvatarUrl'))}
      />
      {isOwn && (
        <>
          <TextField
            label="Name of the sender"
            maxLength={120}
            value={agentName}
            onValue={(value) => form.set('agentName', value)}
            error={form.errorOf('content.agentName')}
          />
          <PictureField
            label="Picture of the sender"
            name={agentName}
            url={agentAvatarUrl === '' ? null : agentAvatarUrl}
            onUrl={(url) => form.set('agentAvatarUrl', url ?? '')}
          />
        </>
      )}
    </>
  );
}

/** As customers know it (`engine/workspace/roster.ts`). */
function nameOf({ publicName, name }: Agent): string {
  return publicName ?? name.trim().split(/\s+/u)[0] ?? name;
}
