// A preview of a campaign's card with the typed values. Only a picture: nothing in it works.

import type { JSX } from 'preact';
import { Avatar } from '../../design/avatar.tsx';
import { listed } from '../labels.ts';
import type { CampaignValues } from './campaign.ts';

export function CampaignPreview({
  values,
  siteName,
}: {
  readonly values: CampaignValues;
  readonly siteName: string;
}): JSX.Element {
  const name = values.agentName.trim() === '' ? siteName : values.agentName;
  const replies = values.quickReplies.length === 0 ? ['Open chat'] : values.quickReplies.map(({ label }) => label);
  const said = values.body.trim() === '' ? 'What do you want to say?' : values.body;
  return (
    <div
      class="widget-preview right"
      role="img"
      aria-label={`The campaign as visitors will see it: ${name} says “${said}”, with ${listed(replies.map((reply) => `“${reply}”`))}.`}
    >
      <div class="preview-campaign">
        <p class="preview-who">
          {values.agentAvatarUrl !== '' && <Avatar name={name} url={values.agentAvatarUrl} />}
          <strong>{name}</strong>
          <span class="preview-dismiss">×</span>
        </p>
        <p class={`preview-said ${values.body.trim() === '' ? 'soft' : ''}`}>{said}</p>
        <p class="preview-replies">
          {replies.map((reply, index) => (
            <span key={index}>{reply === '' ? '…' : reply}</span>
          ))}
        </p>
      </div>
    </div>
  );
}
