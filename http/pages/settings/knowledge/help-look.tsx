// How the help centre looks, and the owner's own address for it.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { notify } from '../../notices.ts';
import { PictureField } from '../../picture-field.tsx';
import type { KbSettings } from '../../records.ts';
import { Part } from '../parts.tsx';
import { normalHex } from '../sites/colour.ts';

interface Given {
  readonly settings: KbSettings;
  readonly onChanged: (settings: KbSettings) => void;
}

const valuesOf = ({ helpHost, helpColour, helpLogoUrl }: KbSettings) => ({
  helpHost: helpHost ?? '',
  helpColour: helpColour ?? '',
  helpLogoUrl,
});

export function HelpLook({ settings, onChanged }: Given): JSX.Element {
  const form = useForm(valuesOf(settings), async ({ helpHost, helpColour, helpLogoUrl }) => {
    const saved = await call<KbSettings>('PATCH', '/kb/settings', {
      body: {
        helpHost: helpHost.trim() === '' ? null : helpHost.trim(),
        helpColour: helpColour.trim() === '' ? null : normalHex(helpColour.trim()),
        helpLogoUrl,
      },
    });
    form.reset(valuesOf(saved));
    onChanged(saved);
    notify({ kind: 'done', text: 'Saved.' });
  });
  const { values } = form;
  const host = values.helpHost.trim();
  return (
    <Part id="help-look" title="Its look and address" intro="Left empty: the colour and the logo of your oldest site.">
      <Form
        form={form}
        label="Its look and address"
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            Save
          </Button>
        }
      >
        <div class="field">
          <span class="label">Logo</span>
          <PictureField
            label="The logo of the help centre"
            kind="logo"
            name="Help"
            url={values.helpLogoUrl}
            onUrl={(url) => form.set('helpLogoUrl', url)}
          />
          {form.errorOf('helpLogoUrl') !== undefined && <p class="error">{form.errorOf('helpLogoUrl')}</p>}
        </div>
        <TextField
          label="Colour"
          optional
          spellcheck={false}
          maxLength={9}
          placeholder="#2563eb"
          value={values.helpColour}
          onValue={(helpColour) => form.set('helpColour', helpColour)}
          error={form.errorOf('helpColour')}
        />
        <TextField
          label="Your own address"
          optional
          inputMode="url"
          spellcheck={false}
          maxLength={253}
          placeholder="help.example.com"
          value={values.helpHost}
          onValue={(helpHost) => form.set('helpHost', helpHost)}
          error={form.errorOf('helpHost')}
          hint="Only the host. Let it lead to this server, and ask its operator to include it in the certificate."
        />
        {host !== '' && (
          <div class="stack">
            <p class="soft">Add this TXT record to the DNS of {host}, so that no one else can use it:</p>
            <Copyable label="the record’s name" text={`_switchboard.${host}`} />
            <Copyable label="the record’s text" text={settings.helpHostProof} />
          </div>
        )}
      </Form>
    </Part>
  );
}
