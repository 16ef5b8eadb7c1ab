// Sets a new password, given the present one. All other sign-ins end.

import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { notify } from '../notices.ts';
import { signIn } from '../session.ts';
import { PasswordField } from './password-field.tsx';

export function ChangePassword({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm(
    { currentPassword: '', newPassword: '' },
    async (values) => {
      await signIn('/me/password', values);
      notify({ kind: 'done', text: 'Your password is changed. You are signed out everywhere else.' });
      onClose();
    },
    { invalid_credentials: 'currentPassword' },
  );
  return (
    <Dialog title="Change password" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Change password
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          autofocus
          required
          value={form.values.currentPassword}
          onValue={(value) => form.set('currentPassword', value)}
          error={form.errorOf('currentPassword')}
          hint={<a href="/forgot-password">Forgot password?</a>}
        />
        <PasswordField
          label="New password"
          value={form.values.newPassword}
          onValue={(value) => form.set('newPassword', value)}
          error={form.errorOf('newPassword')}
        />
      </Form>
    </Dialog>
  );
}
