// The mail server of a workspace: where its mail leaves, and a test that repeats the server's own words.

import Type, { type Static } from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { oneLine } from '../../engine/lines.ts';
import { type NewMailServer, setMailServer, theMailServer } from '../../engine/mail/mail-server.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { requireAdmin } from '../../engine/workspace/access.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { isOnlyWorkspace } from '../../store/directory/directory.ts';
import type { MailServerRecord } from '../../store/mail/mail-servers.ts';
import { mailServerKeyName } from '../delivery/mail-out.ts';
import { route } from '../route.ts';
import { MailSecurity, MailServer, Port } from '../schemas/records.ts';
import { Email, line, nullable } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const tag = 'Email';
/** Of a server's answer, in the reply. */
const maxAnswerChars = 500;
const testsPerMinute = 6;

const NewServer = {
  port: Type.Optional(Port),
  security: Type.Optional(MailSecurity),
  username: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 320 }))),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  fromAddress: Type.Optional(Email),
};
type Given = Static<ReturnType<typeof Type.Object<typeof NewServer>>> & { readonly host: string };

export const mailServerRoutes = [
  route({
    operation: 'mailServer.read',
    method: 'GET',
    path: '/workspace/mail-server',
    tag,
    summary: 'Get the mail server',
    description: 'The password is never returned. The other fields are null unless `source` is `workspace`.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: MailServer },
    refusals: [],
    read: (view, _, services) => shownTo(view, services),
  }),

  route({
    operation: 'mailServer.set',
    method: 'PUT',
    path: '/workspace/mail-server',
    tag,
    summary: 'Set the mail server',
    description:
      "Sends this workspace's mail from now on, and no other workspace's. " +
      'A host of null removes it; any other requires `port`, `security` and `fromAddress`. ' +
      'Without `password` the present one is kept, if host, port, security and username stay the same. ' +
      'A host with a private address is accepted while the server has only one workspace. ' +
      'Returns 409 `conflict` if the environment chose the mail provider.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object(
      {
        host: nullable(line(253, 'A host name or an IP address.')),
        ...NewServer,
      },
      { if: { properties: { host: { type: 'string' } } }, then: { required: ['port', 'security', 'fromAddress'] } },
    ),
    reply: { status: 200, schema: MailServer },
    refusals: ['conflict'],
    async run({ workspaceId, caller, body }, services) {
      const view = viewOf(services, workspaceId, caller);
      requireAdmin(view);
      if (services.config.mail.isChosen)
        refuse('conflict', { message: 'The operator of this server has chosen how it sends mail.' });
      const server = body.host === null ? null : serverOf(view, { ...body, host: body.host }, services);
      await services.engine.execute(setMailServer, { workspaceId, caller, params: { server } });
      return shownTo(viewOf(services, workspaceId, caller), services);
    },
  }),

  route({
    operation: 'mailServer.test',
    method: 'POST',
    path: '/workspace/mail-server/test',
    tag,
    summary: 'Send yourself a test mail',
    description:
      "Sends a mail to the caller's own address at once, and returns the mail server's answer, or why it was not sent.",
    access: { kind: 'agent', scope: null, role: 'admin' },
    limit: { by: 'ip', perMinute: testsPerMinute },
    reply: {
      status: 200,
      schema: Type.Object({
        sent: Type.Boolean(),
        to: Type.String(),
        answer: Type.String({ description: "The server's own words." }),
      }),
    },
    refusals: [],
    actsOutside: true,
    async run({ workspaceId, caller }, services) {
      const view = viewOf(services, workspaceId, caller);
      const { email: to, name } = requireAdmin(view);
      if (services.config.mail.provider === 'outbox' && ownServerOf(view, services) === undefined)
        return { sent: false, to, answer: 'No mail server is set, so mail is kept on this server and not sent.' };
      const mail = {
        to,
        subject: `A test mail of ${oneLine(theWorkspace(view).name)}`,
        text: `Hello ${oneLine(name)},\n\nthis mail shows that ${oneLine(theWorkspace(view).name)} can send mail.`,
      };
      try {
        const answer = await services.sendMail({ workspaceId, id: services.ids.uuid(), mail });
        return { sent: true, to, answer: shortened(answer) };
      } catch (error) {
        return { sent: false, to, answer: shortened(error instanceof Error ? error.message : String(error)) };
      }
    },
  }),
];

const shortened = (text: string): string => oneLine(text).slice(0, maxAnswerChars);

function viewOf({ engine }: Services, workspaceId: string, caller: Caller): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}

/** The server in use, if the workspace named it. */
function ownServerOf(view: View, { config }: Services): MailServerRecord | undefined {
  return config.mail.isChosen ? undefined : theMailServer(view);
}

function shownTo(view: View, services: Services): Static<typeof MailServer> {
  const own = ownServerOf(view, services);
  return {
    source: services.config.mail.isChosen ? 'environment' : own === undefined ? 'none' : 'workspace',
    host: own?.host ?? null,
    port: own?.port ?? null,
    security: own?.security ?? null,
    username: own?.username ?? null,
    hasPassword: own !== undefined && own.sealedPassword !== null,
    fromAddress: own?.fromAddress ?? null,
  };
}

/** Refuses invalid_body. */
function serverOf(view: View, given: Given, { secrets, directory, config }: Services): NewMailServer {
  const { host, port, security, username = null, password, fromAddress } = given;
  if (port === undefined || security === undefined || fromAddress === undefined)
    throw new Error('the body has let a mail server through without its port, its security or its sender');
  if (username !== null && security === 'none')
    refuseField('invalid_body', 'security', 'must be encrypted, so that no one on the way reads the password');
  const before = theMailServer(view);
  // A password is never sent to another server, or less protected, than the one that it was given for.
  const isSame =
    before?.host === host && before.port === port && before.security === security && before.username === username;
  const sealed =
    password === undefined
      ? isSame
        ? before.sealedPassword
        : null
      : secrets.seal(password, mailServerKeyName(view.workspaceId));
  if (username !== null && sealed === null) refuseField('invalid_body', 'password', 'is required');
  return {
    host,
    port,
    security,
    username,
    sealedPassword: username === null ? null : sealed,
    fromAddress,
    // Its only workspace is the operator's, whose mail server may be on the same machine. For others, a private address
    // would be a way into the operator's network.
    mayBePrivate: config.allowPrivateWebhooks || isOnlyWorkspace(directory.db),
  };
}
