// What can be exported and erased. The operator does both at the command line, since no sign-in should be enough; this
// page says how.

import type { JSX } from 'preact';
import { Copyable } from '../../design/copyable.tsx';
import { me } from '../../session.ts';
import { Part } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';

export function Data(_props: SectionProps): JSX.Element {
  const workspaceId = me.value?.workspace.id ?? '';
  return (
    <Section
      title="Data and privacy"
      intro="Your customers' data is yours. It is stored on this server, and with the providers it is set up to use."
    >
      <Part
        id="export"
        title="Export everything"
        intro="The operator of the server can export your whole workspace to a file of JSON lines at any time. Passwords and secrets are not included."
      >
        <Copyable
          text={`switchboard export ${workspaceId} --to workspace.jsonl`}
          label="the command that exports the workspace"
        />
      </Part>
      <Part
        id="erase-contact"
        title="Erase a customer"
        intro="For customers who ask to be forgotten. Everything known about them and every conversation with them is erased for good. Report figures do not change. Stop the server first."
      >
        <Copyable
          text={`switchboard erase ${workspaceId} --contact customer@example.com --yes`}
          label="the command that erases a customer"
        />
        <p class="soft">
          Give the email, phone number or id of the customer. Without --yes, the command only lists what it would erase.
        </p>
      </Part>
      <Part
        id="erase-workspace"
        title="Erase the workspace"
        intro="Erases everything for good. Stop the server first. Older backups still contain the workspace."
      >
        <Copyable text={`switchboard erase ${workspaceId} --yes`} label="the command that erases the workspace" />
      </Part>
      <Part id="kept" title="How long data is kept">
        <ul class="bullets">
          <li>Conversations, contacts and files: until they are erased.</li>
          <li>
            The <a href="/settings/audit-log">audit log</a>: one year, or indefinitely on the enterprise plan.
          </li>
          <li>Records of one-time codes: 90 days. The codes themselves are never stored.</li>
          <li>
            Deliveries to your <a href="/settings/webhooks">webhooks</a>: 7 days.
          </li>
        </ul>
      </Part>
    </Section>
  );
}
