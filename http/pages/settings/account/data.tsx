// What can be taken along and what can be erased. Both are done by who runs the server, at its command line, since no
// sign-in should be enough for them: this says how.

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
      intro="Your customers' data is yours. It lies on the server that you see this page from, and with the providers that it was set up to use."
    >
      <Part
        id="export"
        title="Take everything along"
        intro="Who runs the server can write all of your workspace to a file, as lines of JSON, at any time. Passwords and secrets are left out."
      >
        <Copyable
          text={`switchboard export ${workspaceId} --to workspace.jsonl`}
          label="the command that exports the workspace"
        />
      </Part>
      <Part
        id="erase-contact"
        title="Forget a customer"
        intro="When a customer asks to be forgotten: everything that is known of them and was written with them is erased for good. Figures of reports stay as they are. The server must not run meanwhile."
      >
        <Copyable
          text={`switchboard erase ${workspaceId} --contact customer@example.com --yes`}
          label="the command that erases a customer"
        />
        <p class="soft">
          The customer is named by email, phone number or id. Without --yes it only says what would be erased.
        </p>
      </Part>
      <Part
        id="erase-workspace"
        title="Erase the workspace"
        intro="All of it, for good. The server must not run meanwhile. Backups from before still hold it."
      >
        <Copyable text={`switchboard erase ${workspaceId} --yes`} label="the command that erases the workspace" />
      </Part>
      <Part id="kept" title="How long things are kept">
        <ul class="bullets">
          <li>Conversations, contacts and files: until they are erased.</li>
          <li>
            The <a href="/settings/audit-log">audit log</a>: a year, on the enterprise plan for good.
          </li>
          <li>One-time codes that were sent: 90 days. The codes themselves are never kept.</li>
          <li>
            What was sent to your <a href="/settings/webhooks">webhooks</a>: seven days.
          </li>
        </ul>
      </Part>
    </Section>
  );
}
