// Mail: the sending domain, inbound addresses, suppressed addresses, and the inbound webhook. Specification 4.19, 4.20;
// decisions "Inbound email", "Email domain".

import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { requireDomainProvider, setEmailDomain } from '../../engine/mail/domain-registration.ts';
import { emailDomainView } from '../../engine/mail/email-domain.ts';
import { listInboundAddresses, setInboundAddresses } from '../../engine/mail/inbound-addresses.ts';
import { listSuppressions, removeSuppression } from '../../engine/mail/suppressions.ts';
import { receiveWebhook, workspaceOfRecipients } from '../../engine/tickets/mail-intake.ts';
import { theEmailDomain } from '../../engine/workspace/workspace.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { actorOf, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { EmailDomain, InboundAddress, Suppression } from '../schemas/records.ts';
import { CursorQuery, Email, Id, NextCursor, nullable, Url } from '../schemas/shared.ts';
import { openSecret } from '../secrets/workspace-secrets.ts';

const Domain = Type.Object({ domain: EmailDomain });

const InboundAddresses = Type.Object({ addresses: Type.Array(InboundAddress) });
const LocalPart = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: worded('^[A-Za-z0-9](?:[A-Za-z0-9._+-]*[A-Za-z0-9])?$', 'the part before the @, such as sales'),
  description: 'The part before the @.',
});

const Line = Type.String({ maxLength: 2000 });
/** Header lines of one mail. Mails that passed many servers have a hundred. */
const maxHeaders = 1000;
const InboundMail = Type.Object({
  from: Type.String({ minLength: 1, maxLength: 1000, description: 'An address, with or without a display name.' }),
  to: Type.Array(Type.String({ maxLength: 1000 }), { minItems: 1, maxItems: 100 }),
  subject: Line,
  text: Type.Optional(nullable(Type.String())),
  html: Type.Optional(nullable(Type.String({ description: 'At least one of `text` and `html` is required.' }))),
  messageId: Type.Optional(nullable(Line)),
  headers: Type.Optional(
    nullable(
      Type.Record(
        // A line break in a name is no way past the rule for values.
        Type.String({ pattern: '^[\\s\\S]*$' }),
        Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: maxHeaders }), Type.Null()]),
        {
          maxProperties: maxHeaders,
          description:
            'These headers are read, in any case: Auto-Submitted, X-Autoreply, X-Autorespond, Precedence, List-Id, ' +
            'List-Unsubscribe, In-Reply-To, References, Reply-To.',
        },
      ),
    ),
  ),
  attachments: Type.Optional(
    nullable(
      Type.Array(
        Type.Object({
          filename: Type.String({ minLength: 1, maxLength: 500 }),
          url: Url,
          size: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
          contentType: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
        }),
        { maxItems: 100, description: 'Fetched from their URLs, which must be public, and stored.' },
      ),
    ),
  ),
});

export const emailRoutes = [
  route({
    operation: 'emailDomain.read',
    method: 'GET',
    path: '/email/domain',
    tag: 'Email',
    summary: 'Get the email domain',
    access: { kind: 'agent', scope: null },
    reply: { status: 200, schema: Type.Object({ domain: nullable(EmailDomain) }) },
    refusals: [],
    read(view) {
      const domain = theEmailDomain(view);
      return { domain: domain === undefined ? null : emailDomainView(domain) };
    },
  }),

  route({
    operation: 'emailDomain.readOne',
    method: 'GET',
    path: '/email/domain/{domainId}',
    tag: 'Email',
    summary: 'Get the email domain by id',
    access: { kind: 'agent', scope: null },
    params: Type.Object({ domainId: Id }),
    reply: { status: 200, schema: Domain },
    refusals: [],
    read(view, { params }) {
      const domain = theEmailDomain(view);
      return domain?.id === params.domainId ? { domain: emailDomainView(domain) } : refuse('not_found');
    },
  }),

  route({
    operation: 'emailDomain.register',
    method: 'POST',
    path: '/email/domain',
    tag: 'Email',
    summary: 'Register the email domain',
    description:
      'Returns the DNS records to add. They are looked up for up to seven days, less and less often. ' +
      'Once all `required` records are found, mail is sent from the domain, signed, ' +
      'and mail to every address at it is accepted, whether it arrives by MX or is forwarded. ' +
      'MX is looked up too, but is not required. ' +
      'Registering the same domain again keeps its records and restarts the seven days; registering another replaces it. ' +
      'Returns 409 if another workspace has verified the domain.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      domain: Type.String({ minLength: 3, maxLength: 253, description: 'An apex domain, such as example.com.' }),
    }),
    reply: { status: 200, schema: Domain },
    refusals: ['conflict', 'email_provider_error', 'email_provider_not_configured'],
    actsOutside: true,
    async run(call, services) {
      requireDomainProvider(services);
      const name =
        (await services.apexDomain(call.body.domain)) ??
        refuseField('invalid_body', 'domain', 'must be an apex domain, such as example.com');
      const firstPauseMs = services.config.domainPollSeconds * 1000;
      return { domain: await setEmailDomain(services, actorOf(call), { name, firstPauseMs }) };
    },
  }),

  route({
    operation: 'inboundAddress.list',
    method: 'GET',
    path: '/email/inbound-addresses',
    tag: 'Email',
    summary: 'List inbound addresses',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: InboundAddresses },
    refusals: [],
    read: (view) => ({ addresses: listInboundAddresses(view) }),
  }),

  route({
    operation: 'inboundAddress.set',
    method: 'PUT',
    path: '/email/inbound-addresses',
    tag: 'Email',
    summary: 'Replace the mapped addresses',
    description:
      "Each local part receives mail at the workspace's subdomain and at its verified domain, for a department or, " +
      'with null, for the default one. admin, administrator, hostmaster, ' +
      'postmaster and webmaster are reserved for the operator of the mail host, unless they were mapped before.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      addresses: Type.Array(Type.Object({ localPart: LocalPart, departmentId: nullable(Id) }), { maxItems: 100 }),
    }),
    reply: { status: 200, schema: InboundAddresses },
    refusals: [],
    run: async ({ workspaceId, caller, body }, { engine }) => ({
      addresses: await engine.execute(setInboundAddresses, {
        workspaceId,
        caller,
        params: { addresses: body.addresses },
      }),
    }),
  }),

  route({
    operation: 'suppression.list',
    method: 'GET',
    path: '/email/suppressions',
    tag: 'Email',
    summary: 'List suppressed addresses',
    description: 'Addresses whose mail bounced or was permanently rejected, newest first. No mail is sent to them.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    query: Type.Object(CursorQuery),
    reply: {
      status: 200,
      schema: Type.Object({ suppressions: Type.Array(Suppression), nextCursor: NextCursor }),
    },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(query, (page) => listSuppressions(view, page), byCreated);
      return { suppressions: rows.map(({ email, reason, createdAt }) => ({ email, reason, createdAt })), nextCursor };
    },
  }),

  route({
    operation: 'suppression.delete',
    method: 'DELETE',
    path: '/email/suppressions/{email}',
    tag: 'Email',
    summary: 'Remove a suppressed address',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ email: Email }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeSuppression, { workspaceId, caller, params }),
  }),

  route({
    operation: 'email.inbound',
    method: 'POST',
    path: '/email/inbound',
    tag: 'Email',
    summary: 'Receive a mail',
    description:
      'For mail providers. The mail becomes a message in the conversation that it answers, or a new ticket. ' +
      'A repeated mail is accepted and changes nothing; automatic and list mail is accepted and dropped, ' +
      'with an entry in the audit log. ' +
      'The first address in `to` that belongs to a workspace determines whose secret signs the request. ' +
      'Accept and Content-Type are ignored.',
    access: {
      kind: 'signed',
      signers({ body }, services) {
        // Read before it is validated, and only for its recipients.
        const workspaceId = workspaceOfRecipients(services.mailPorts, (body as { to?: unknown } | null)?.to);
        const secret = workspaceId === undefined ? undefined : openSecret(services, workspaceId, 'inbound-email');
        return workspaceId === undefined || secret === undefined ? [] : [{ workspaceId, secret }];
      },
    },
    anyHeaders: true,
    httpOnly: true,
    body: InboundMail,
    reply: { status: 200, schema: null },
    refusals: ['site_bootstrap_failed'],
    run: ({ workspaceId, body }, { mailPorts }) => receiveWebhook(mailPorts, workspaceId, body),
  }),
];
