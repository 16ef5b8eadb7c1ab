// Registers an app, or changes its scopes and redirect addresses.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextArea, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { changedIn } from '../../design/three-way.ts';
import type { OAuthApp } from '../../records.ts';
import { CheckList } from '../check-list.tsx';
import { scopes } from './scopes.ts';

export interface RegisteredApp extends OAuthApp {
  /** For a new app that is not public. */
  readonly clientSecret?: string | null;
}

const offered = scopes.filter(({ forApps }) => forApps).map(({ scope, label }) => ({ value: scope, label }));

/** One per line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

interface AppValues {
  readonly name: string;
  readonly redirectUris: string;
  readonly scopes: readonly string[];
  readonly public: boolean;
}

function bodyOf({
  name,
  redirectUris,
  scopes: chosen,
}: AppValues): Pick<OAuthApp, 'name' | 'redirectUris'> & { readonly scopes: readonly string[] } {
  return { name, redirectUris: linesOf(redirectUris), scopes: chosen };
}

export function AppDialog({
  app,
  onSaved,
  onClose,
}: {
  readonly app?: OAuthApp | undefined;
  readonly onSaved: (app: RegisteredApp) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const start: AppValues = {
    name: app?.name ?? '',
    redirectUris: app?.redirectUris.join('\n') ?? '',
    scopes: app?.scopes ?? [],
    public: app?.public ?? false,
  };
  const form = useForm(start, async (values) => {
    const body = bodyOf(values);
    if (app === undefined)
      return onSaved(await call('POST', '/oauth-apps', { body: { ...body, public: values.public } }));
    // Sends only own changes, so that those of others stay.
    const changes = changedIn(bodyOf(start), body);
    if (Object.keys(changes).length === 0) return onClose();
    onSaved(await call('PATCH', `/oauth-apps/${app.id}`, { body: changes }));
  });
  return (
    <Dialog title={app === undefined ? 'Register an app' : `Change ${app.name}`} onClose={onClose}>
      <Form
        form={form}
        label={app === undefined ? 'Register an app' : 'Change an app'}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {app === undefined ? 'Register' : 'Save'}
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Name"
          maxLength={120}
          value={form.values.name}
          onValue={(next) => form.set('name', next)}
          error={form.errorOf('name')}
          hint="Agents see it when the app asks for access."
        />
        <TextArea
          label="Redirect addresses"
          rows={3}
          spellcheck={false}
          placeholder="https://app.example/callback"
          value={form.values.redirectUris}
          onValue={(next) => form.set('redirectUris', next)}
          error={form.errorOf('redirectUris')}
          hint="One per line. They must match exactly."
        />
        <CheckList
          wide
          label="Permissions it may ask for"
          items={offered}
          chosen={form.values.scopes}
          onChosen={(next) => form.set('scopes', next)}
          error={form.errorOf('scopes')}
        />
        {app === undefined && (
          <Checkbox
            label="It cannot keep a secret"
            hint="For browser and phone apps: no secret, PKCE is required."
            checked={form.values.public}
            onChecked={(next) => form.set('public', next)}
          />
        )}
      </Form>
    </Dialog>
  );
}
