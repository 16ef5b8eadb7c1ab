// Below the header of a conversation: its subject, who has it, its department, its rating and its tags.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { Badge } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { LazyDialog } from '../design/lazy.tsx';
import { agentName, departmentName } from '../people.ts';
import type { Conversation } from '../records.ts';
import { actionDialog } from './panel/actions.tsx';

export function ConversationFacts({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  const { assignedAgentId, departmentId, followerIds, mergedInto, rating, subject, tags, ticketNumber } = conversation;
  const [isTagging, setTagging] = useState(false);
  return (
    <div class="inbox-about">
      {(subject !== null || ticketNumber !== null) && (
        <p class="inbox-subject" title={subject ?? undefined}>
          {ticketNumber !== null && <span class="soft">#{ticketNumber} </span>}
          <bdi>{subject}</bdi>
        </p>
      )}
      <div class="inbox-facts">
        <span>
          <Icon name="person" size={14} />{' '}
          {assignedAgentId === null ? 'Unassigned' : `Assigned to ${agentName(assignedAgentId)}`}
        </span>
        {mergedInto !== null && (
          <span>
            Merged into <a href={`/inbox/all/${mergedInto}`}>another ticket</a>
          </span>
        )}
        {followerIds.length > 0 && (
          <span title={followerIds.map(agentName).join(', ')}>
            <Icon name="bell" size={14} /> Followed by {followerNames(followerIds)}
          </span>
        )}
        {departmentId !== null && (
          <span>
            <Icon name="people" size={14} /> {departmentName(departmentId)}
          </span>
        )}
        {rating !== null && (
          <span>
            <Icon name="star" size={14} /> Rated {rating} of 5
          </span>
        )}
        {tags.length > 0 && (
          <ul aria-label="Tags">
            {tags.map((tag) => (
              <li key={tag}>
                <Badge>{tag}</Badge>
              </li>
            ))}
          </ul>
        )}
        <Button small kind="quiet" icon="tag" title="Change tags (T)" onClick={() => setTagging(true)}>
          {tags.length === 0 ? 'Add a tag' : 'Change'}
          {tags.length > 0 && <span class="for-readers"> tags</span>}
        </Button>
      </div>
      {isTagging && (
        <LazyDialog load={actionDialog} props={{ asked: 'tags', conversation, onClose: () => setTagging(false) }} />
      )}
    </div>
  );
}

/** Two names at most; the rest are counted. */
function followerNames(agentIds: readonly string[]): string {
  const [first = '', second] = agentIds.map(agentName);
  if (second === undefined) return first;
  return agentIds.length === 2 ? `${first} and ${second}` : `${first} and ${agentIds.length - 1} more`;
}
