// Creates a workspace, the first page that a new owner sees. If the operator requires an invitation, it asks for the
// code, which the invitation's link contains.

import type { JSX } from 'preact';
import { webAddressOf } from '../addresses.ts';
import { Button } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { navigate, query } from '../location.ts';
import { signIn } from '../session.ts';
import { Gate } from './gate.tsx';
import { PasswordField } from './password-field.tsx';
import { useRegistration } from './registration.ts';

export function Register(): JSX.Element {
  const registration = useRegistration();
  const form = useForm(
    { workspaceName: '', siteUrl: '', email: '', password: '', inviteCode: query.peek().get('code') ?? '' },
    async ({ siteUrl, inviteCode, ...rest }) => {
      const url = webAddressOf(siteUrl);
      const code = inviteCode.trim();
      await signIn('/auth/register', {
        ...rest,
        ...(url === '' ? {} : { siteUrl: url }),
        ...(code === '' ? {} : { inviteCode: code }),
      });
      navigate('/welcome', { replace: true });
    },
    { email_taken: 'email' },
  );
  return (
    <Gate
      title="Create a workspace"
      aside={
        <>
          Already have one? <a href="/sign-in">Sign in</a>
        </>
      }
    >
      {registration === 'off' ? (
        <Banner kind="warn">New workspaces are turned off on this server. Ask its operator.</Banner>
      ) : (
        <Form
          form={form}
          actions={
            <Button type="submit" kind="primary" busy={form.busy}>
              Create workspace
            </Button>
          }
        >
          <TextField
            label="What is your business called?"
            autofocus
            required
            maxLength={120}
            autocomplete="organization"
            value={form.values.workspaceName}
            onValue={(value) => form.set('workspaceName', value)}
            error={form.errorOf('workspaceName')}
          />
          <TextField
            label="Its website"
            optional
            placeholder="shop.example"
            inputMode="url"
            autocomplete="url"
            value={form.values.siteUrl}
            onValue={(value) => form.set('siteUrl', value)}
            error={form.errorOf('siteUrl')}
            hint="Where you want the chat. You can add it later."
          />
          <TextField
            label="Your email"
            type="email"
            required
            autocomplete="username"
            value={form.values.email}
            onValue={(value) => form.set('email', value)}
            error={form.errorOf('email')}
          />
          <PasswordField
            value={form.values.password}
            onValue={(value) => form.set('password', value)}
            error={form.errorOf('password')}
          />
          {registration === 'invite' && (
            <TextField
              label="Invitation code"
              required
              autocomplete="off"
              maxLength={200}
              value={form.values.inviteCode}
              onValue={(value) => form.set('inviteCode', value)}
              error={form.errorOf('inviteCode')}
              hint="From the operator of this server."
            />
          )}
        </Form>
      )}
    </Gate>
  );
}
