// The first five minutes: a site, its install line, the widget on a page here, colleagues, mail. Each step marks itself
// as done, in any order.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hostOf } from '../addresses.ts';
import { call } from '../api.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { Copyable } from '../design/copyable.tsx';
import { Badge, Failure, Loading } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { Icon } from '../design/icon.tsx';
import { useResource } from '../design/resource.ts';
import { InvitationLink, type Invited } from '../invitation-sent.tsx';
import { onEvent } from '../live.ts';
import { notify } from '../notices.ts';
import type { Agent, Conversation, Message, Site } from '../records.ts';
import { keepAgent, me } from '../session.ts';
import { SiteSeen } from '../site-seen.tsx';
import { snippetOf } from '../snippet.ts';
import { setTitle } from '../title.ts';

interface Standing {
  readonly sites: readonly Site[];
  readonly agents: readonly Agent[];
  readonly hasConversation: boolean;
  readonly hasTicket: boolean;
  readonly mailAddress: string | undefined;
}

async function readStanding(signal: AbortSignal): Promise<Standing> {
  const [{ sites }, { agents }, queue, closed, tickets, integrations] = await Promise.all([
    call<{ sites: Site[] }>('GET', '/sites', { signal }),
    call<{ agents: Agent[] }>('GET', '/agents', { signal }),
    call<{ conversations: Conversation[] }>('GET', '/conversations/queue', { query: { limit: 1 }, signal }),
    call<{ conversations: Conversation[] }>('GET', '/conversations/recently-closed', { query: { limit: 1 }, signal }),
    call<{ conversations: Conversation[] }>('GET', '/conversations/queue', {
      query: { limit: 1, channel: 'ticket' },
      signal,
    }),
    me.peek()?.agent.role === 'admin'
      ? call<{ inboundEmail: { address: string } }>('GET', '/workspace/integrations', { signal })
      : undefined,
  ]);
  return {
    sites,
    agents,
    hasTicket: tickets.conversations.concat(closed.conversations).some(({ channel }) => channel === 'ticket'),
    hasConversation: queue.conversations.length + closed.conversations.length > 0,
    mailAddress: integrations?.inboundEmail.address,
  };
}

export function Welcome(): JSX.Element {
  const standing = useResource(readStanding, []);
  useEffect(() => setTitle('Welcome'), []);
  return (
    <div class="page">
      <header>
        <div>
          <h1>Welcome to Switchboard</h1>
          <p>Five steps to your first customer. Try the third one first.</p>
        </div>
        <ButtonLink href="/inbox" kind="primary" icon="inbox">
          To the inbox
        </ButtonLink>
      </header>
      {standing.failure !== undefined && <Failure error={standing.failure} retry={standing.reload} />}
      {standing.value === undefined ? (
        standing.failure === undefined && <Loading lines={8} />
      ) : (
        <Steps standing={standing.value} reload={standing.reload} />
      )}
    </div>
  );
}

function Steps({ standing, reload }: { readonly standing: Standing; readonly reload: () => void }): JSX.Element {
  const { sites, agents, hasConversation, hasTicket, mailAddress } = standing;
  const [heard, setHeard] = useState<Message | undefined>(undefined);
  const [hasMail, setHasMail] = useState(hasTicket);
  const [changed, setChanged] = useState<Site | undefined>(undefined);
  useEffect(
    () =>
      onEvent(['message.created', 'conversation.created'], ({ type, data }) => {
        // The data of these events, by the AsyncAPI document.
        const { message, conversation } = data as { message: Message; conversation: Conversation };
        if (type === 'message.created' && message.senderType === 'visitor') setHeard(message);
        if (type === 'conversation.created' && conversation.channel === 'ticket') setHasMail(true);
      }),
    [],
  );
  // The one that was registered: the list has the newest first.
  const first = sites.at(-1);
  const site = changed?.id === first?.id ? changed : first;
  const name = me.value?.agent.name ?? '';
  return (
    <ol class="steps">
      <Step
        number={1}
        title="Your name"
        done={name !== '' && !name.includes('@') && name !== me.value?.agent.email.split('@')[0]}
      >
        <p class="soft">Customers see who is answering them.</p>
        <NameForm />
      </Step>
      <Step
        number={2}
        title={site === undefined ? 'Add your website' : `The chat for ${site.domain}`}
        done={site?.lastSeenAt != null}
      >
        {site === undefined ? (
          <SiteForm onMade={reload} />
        ) : (
          <>
            <p class="soft">
              Paste this line into your pages, just before the closing body tag. You can change its settings later.
            </p>
            <Copyable label="the snippet" text={snippetOf(site)} />
            <SiteSeen site={site} onChanged={setChanged} />
            <p>
              <a href={`/settings/sites/${site.id}`}>Settings of this site</a>
            </p>
          </>
        )}
      </Step>
      <Step number={3} title="Talk to yourself" done={hasConversation || heard !== undefined}>
        <p class="soft">This page has your widget on it. Write as a customer would, and answer from your inbox.</p>
        {site !== undefined && (
          <>
            <iframe
              class="preview-frame"
              title="A page with your widget"
              src={`/preview/${encodeURIComponent(site.embedId)}`}
            />
            <div class="row" role="status">
              {heard === undefined ? (
                <a href={`/preview/${encodeURIComponent(site.embedId)}`} target="_blank" rel="noreferrer">
                  Open in a new window
                </a>
              ) : (
                <>
                  <Badge kind="good">It arrived</Badge>
                  <span class="truncate">“{heard.body}”</span>
                  <ButtonLink href={`/inbox/all/${heard.conversationId}`} kind="primary" small>
                    Answer
                  </ButtonLink>
                </>
              )}
            </div>
          </>
        )}
      </Step>
      <Step number={4} title="Invite colleagues" done={agents.length > 1}>
        <InviteForm onInvited={reload} />
        <p>
          <a href="/settings/agents">All agents and their roles</a>
        </p>
      </Step>
      <Step number={5} title="Receive email" done={hasMail}>
        {mailAddress === undefined ? (
          <p class="soft">An admin can set this up under Settings, Email.</p>
        ) : (
          <>
            <p class="soft">
              Email to this address becomes tickets. Forward your support address to it, or use your own domain. This
              step is done when the first one arrives.
            </p>
            <Copyable label="the address" text={mailAddress} />
            <p>
              <a href="/settings/email">Email settings</a>
            </p>
          </>
        )}
      </Step>
    </ol>
  );
}

function Step({
  number,
  title,
  done,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <li class={`card step ${done ? 'done' : ''}`}>
      <span class="mark" aria-hidden="true">
        {done ? <Icon name="check" size={18} /> : number}
      </span>
      <div class="stack">
        <h2>
          {title} {done && <span class="for-readers">(done)</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}

function NameForm(): JSX.Element {
  const agent = me.value?.agent;
  const form = useForm({ name: agent?.name ?? '' }, async ({ name }) => {
    if (agent === undefined) return;
    keepAgent(await call<Agent>('PATCH', `/agents/${agent.id}`, { body: { name } }));
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <Form
      form={form}
      actions={
        <Button type="submit" busy={form.busy}>
          Save
        </Button>
      }
    >
      <TextField
        label="Your name"
        maxLength={120}
        autocomplete="name"
        value={form.values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
      />
    </Form>
  );
}

function SiteForm({ onMade }: { readonly onMade: () => void }): JSX.Element {
  const form = useForm(
    { domain: '' },
    async ({ domain }) => {
      const host = hostOf(domain);
      await call('POST', '/sites', { body: { name: host, domain: host } });
      onMade();
    },
    { conflict: 'domain' },
  );
  return (
    <Form
      form={form}
      actions={
        <Button type="submit" kind="primary" busy={form.busy}>
          Add site
        </Button>
      }
    >
      <TextField
        label="Website"
        placeholder="shop.example"
        inputMode="url"
        value={form.values.domain}
        onValue={(value) => form.set('domain', value)}
        error={form.errorOf('domain') ?? form.errorOf('name')}
      />
    </Form>
  );
}

function InviteForm({ onInvited }: { readonly onInvited: () => void }): JSX.Element {
  const [invited, setInvited] = useState<Invited | undefined>(undefined);
  const form = useForm(
    { name: '', email: '' },
    async (values) => {
      const body = { ...values, role: 'agent', channels: ['chats', 'tickets'] };
      setInvited(await call<Invited>('POST', '/agents/invite', { body }));
      form.reset({ name: '', email: '' });
      onInvited();
    },
    { email_already_exists: 'email' },
  );
  return (
    <Form
      form={form}
      actions={
        <Button type="submit" busy={form.busy}>
          Send invitation
        </Button>
      }
    >
      <div class="columns">
        <TextField
          label="Name"
          maxLength={120}
          value={form.values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
        />
        <TextField
          label="Email"
          type="email"
          value={form.values.email}
          onValue={(value) => form.set('email', value)}
          error={form.errorOf('email')}
        />
      </div>
      <div role="status" class="stack">
        {invited !== undefined && <InvitationLink invited={invited} />}
      </div>
    </Form>
  );
}
