// Sites that have the widget: the list, and one by its id.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hostOf } from '../../addresses.ts';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { navigate } from '../../location.ts';
import { readAll } from '../../paging.ts';
import type { Site } from '../../records.ts';
import { Section, type SectionProps } from '../section.tsx';
import { SitePage } from './site-page.tsx';

export function Sites({ item }: SectionProps): JSX.Element {
  return item === undefined ? <SiteList /> : <SitePage key={item} siteId={item} />;
}

function SiteList(): JSX.Element {
  const [making, setMaking] = useState(false);
  const sites = useResource(() => readAll<Site>('/sites', 'sites'), []);
  useCommands(
    () => [{ id: 'site.create', title: 'Add a site', group: 'This page', keys: ['n'], run: () => setMaking(true) }],
    [],
  );
  return (
    <Section
      title="Sites"
      intro="The websites with your chat: their colours and texts, the line to add to their pages, and their hours."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Add a site
        </Button>
      }
    >
      {sites.failure !== undefined && <Failure error={sites.failure} retry={sites.reload} />}
      {sites.value === undefined && sites.failure === undefined && <Loading />}
      {sites.value?.length === 0 && (
        <Empty icon="globe" title="No sites yet">
          <p>Add the website where you want the chat.</p>
        </Empty>
      )}
      {sites.value !== undefined && sites.value.length > 0 && (
        <ul class="site-list">
          {sites.value.map((site) => (
            <li key={site.id}>
              <a class="card compact site-card" href={`/settings/sites/${site.id}`}>
                <span class="swatch" style={{ background: site.primaryColor }} aria-hidden="true" />
                <span class="site-names">
                  <strong>{site.name}</strong>
                  <span class="soft">{site.domain}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {making && <MakeSite onClose={() => setMaking(false)} />}
    </Section>
  );
}

function MakeSite({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm(
    { name: '', domain: '' },
    async ({ name, domain }) => {
      const host = hostOf(domain);
      const site = await call<Site>('POST', '/sites', {
        body: { name: name.trim() === '' ? host : name, domain: host },
      });
      navigate(`/settings/sites/${site.id}`);
    },
    { conflict: 'domain' },
  );
  return (
    <Dialog title="Add a site" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Add
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Website"
          autofocus
          required
          placeholder="shop.example"
          inputMode="url"
          value={form.values.domain}
          onValue={(value) => form.set('domain', value)}
          error={form.errorOf('domain')}
        />
        <TextField
          label="Name"
          optional
          maxLength={120}
          value={form.values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
          hint="Customers see it above the chat. If empty, the address is used."
        />
      </Form>
    </Dialog>
  );
}
