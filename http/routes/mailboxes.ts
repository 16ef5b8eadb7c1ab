// Mailboxes elsewhere: connecting one, by a password or by access that its provider grants, and a test of both of its
// servers.

import Type, { type Static } from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { oneLine } from '../../engine/lines.ts';
import {
  changeMailbox,
  createMailbox,
  hurryMailbox,
  listMailboxes,
  type NewMailbox,
  removeMailbox,
  requireMailbox,
} from '../../engine/mail/mailboxes.ts';
import { comparable } from '../../engine/mail-addresses.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { requireAdmin } from '../../engine/workspace/access.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { isOnlyWorkspace } from '../../store/directory/directory.ts';
import { type MailboxRecord, MailboxView, MailEndpoint } from '../../store/mail/mailboxes.ts';
import type { MailProvider, ProviderPlaces } from '../../workers/providers/mail-access.ts';
import type { MailUser } from '../../workers/providers/mail-server.ts';
import { mailboxKeyName } from '../delivery/mailbox-access.ts';
import { route } from '../route.ts';
import { Email, Id, line, nullable } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const tag = 'Email';
const access = { kind: 'agent', scope: null, role: 'admin' } as const;
const testsPerMinute = 6;
/** Of a server's answer, in the reply. */
const maxAnswerChars = 500;
/** For the owner to sign in at the provider and consent. */
const grantMs = 15 * 60_000;
/** The page that the providers return to. */
const returnPath = '/settings/email/mailbox';

const ById = Type.Object({ mailboxId: Id });
const Provider = Type.Enum(['google', 'microsoft']);
const Endpoint = Type.Object({ ...MailEndpoint.properties, host: line(253, 'A host name or an IP address.') });
const Folder = line(200, 'A folder of the mailbox.');

const settings = {
  departmentId: Type.Optional(nullable(Id)),
  smtp: Type.Optional(nullable(Endpoint)),
  folder: Type.Optional(Folder),
  afterwards: Type.Optional(MailboxView.properties.afterwards),
  moveTo: Type.Optional(nullable(Folder)),
};
const signIn = {
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'By default the address.' })),
  password: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1000, description: 'Often one that the provider makes for one app.' }),
  ),
  imap: Type.Optional(Endpoint),
};
const Grant = Type.Object(
  { code: Type.String({ maxLength: 4096 }), state: Type.String({ maxLength: 2048 }) },
  { description: 'What the provider returned with, for a mailbox that is connected by its access.' },
);
const NewBox = Type.Object({ address: Email, ...signIn, ...settings, grant: Type.Optional(Grant) });
type NewBox = Static<typeof NewBox>;

const Tried = Type.Object({
  isWorking: Type.Boolean(),
  answer: Type.String({ description: "The server's own words." }),
});

export const mailboxRoutes = [
  route({
    operation: 'mailbox.list',
    method: 'GET',
    path: '/workspace/mailboxes',
    tag,
    summary: 'List connected mailboxes',
    description: 'Oldest first. `providers`: where access can be granted, as the operator set up.',
    access,
    reply: {
      status: 200,
      schema: Type.Object({ mailboxes: Type.Array(MailboxView), providers: Type.Array(Provider) }),
    },
    refusals: [],
    read: (view, _, { mailAccess }) => ({
      mailboxes: listMailboxes(view),
      providers: (['google', 'microsoft'] as const).filter((provider) => mailAccess.placesOf(provider) !== undefined),
    }),
  }),

  route({
    operation: 'mailbox.authorize',
    method: 'POST',
    path: '/workspace/mailboxes/authorize',
    tag,
    summary: 'Begin to connect a mailbox by its provider',
    description:
      "Returns the page of the provider at which the mailbox's owner grants access. " +
      `The provider then returns to ${returnPath} with a code and a state, for POST /workspace/mailboxes.`,
    access,
    body: Type.Object({ provider: Provider, address: Email }),
    reply: { status: 200, schema: Type.Object({ url: Type.String() }) },
    refusals: [],
    async run({ workspaceId, caller, body: { provider, address } }, services) {
      const { mailAccess, mailboxGrants, clock } = services;
      const { id: agentId } = requireAdmin(viewOf(services, workspaceId, caller));
      placesOf(services, provider);
      const expiresMs = clock.now() + grantMs;
      const state = mailboxGrants.issue({ workspaceId, agentId, signIn: provider, address, expiresMs });
      return { url: mailAccess.authorizeUrl(provider, { address, state, redirectUri: redirectUri(services) }) };
    },
  }),

  route({
    operation: 'mailbox.connect',
    method: 'POST',
    path: '/workspace/mailboxes',
    tag,
    summary: 'Connect a mailbox',
    description:
      'Its mail becomes tickets from now on, and with `smtp` mail from its address leaves through it. ' +
      'Takes either `password` and `imap`, or the `grant` of a provider. ' +
      'Mail stays in the mailbox as it is, unless `afterwards` says otherwise.',
    access,
    body: NewBox,
    reply: { status: 201, schema: MailboxView },
    refusals: ['conflict', 'semantic_error'],
    actsOutside: true,
    async run({ workspaceId, caller, body }, services) {
      const view = viewOf(services, workspaceId, caller);
      requireAdmin(view);
      const mailboxId = services.ids.uuid();
      const mailbox = await mailboxOf(view, services, { mailboxId, body });
      return services.engine.execute(createMailbox, { workspaceId, caller, params: { mailboxId, mailbox } });
    },
  }),

  route({
    operation: 'mailbox.update',
    method: 'PATCH',
    path: '/workspace/mailboxes/{mailboxId}',
    tag,
    summary: 'Change a connected mailbox',
    description:
      'Another server, user or folder starts anew, with mail from now on. ' +
      'Without `password` the present one is kept, if its servers and the username stay the same.',
    access,
    params: ById,
    body: Type.Object({ ...signIn, ...settings, isPaused: Type.Optional(Type.Boolean()) }),
    reply: { status: 200, schema: MailboxView },
    refusals: ['conflict'],
    async run({ workspaceId, caller, params, body }, services) {
      const before = requireMailbox(viewOf(services, workspaceId, caller), params.mailboxId);
      const { password, ...changes } = body;
      requireEncrypted(body);
      const goesElsewhere =
        (changes.imap !== undefined && isOther(changes.imap, before.imap)) ||
        (changes.smtp != null && (before.smtp === null || isOther(changes.smtp, before.smtp))) ||
        (changes.username !== undefined && changes.username !== before.username);
      if (goesElsewhere && before.signIn !== 'password')
        refuseField('invalid_body', 'imap', 'cannot change: the provider granted access to this mailbox');
      if (goesElsewhere && password === undefined) refuseField('invalid_body', 'password', 'is required');
      const sealedSecret =
        password === undefined
          ? undefined
          : services.secrets.seal(password, mailboxKeyName(workspaceId, params.mailboxId));
      return services.engine.execute(changeMailbox, {
        workspaceId,
        caller,
        params: {
          ...params,
          changes: {
            ...changes,
            sealedSecret,
            ...(goesElsewhere ? { mayBePrivate: mayBePrivate(services) } : {}),
          },
        },
      });
    },
  }),

  route({
    operation: 'mailbox.delete',
    method: 'DELETE',
    path: '/workspace/mailboxes/{mailboxId}',
    tag,
    summary: 'Disconnect a mailbox',
    description: 'Its mail that is here stays.',
    access,
    params: ById,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeMailbox, { workspaceId, caller, params }),
  }),

  route({
    operation: 'mailbox.check',
    method: 'POST',
    path: '/workspace/mailboxes/{mailboxId}/check',
    tag,
    summary: 'Check a mailbox now',
    description: 'Mailboxes are watched, and checked every two minutes besides; after failures less and less often.',
    access,
    params: ById,
    reply: { status: 202, schema: null },
    refusals: [],
    async run({ workspaceId, caller, params }, services) {
      requireMailbox(viewOf(services, workspaceId, caller), params.mailboxId);
      await services.engine.execute(hurryMailbox, { workspaceId, caller, params });
    },
  }),

  route({
    operation: 'mailbox.test',
    method: 'POST',
    path: '/workspace/mailboxes/test',
    tag,
    summary: 'Test the servers of a mailbox',
    description:
      "Signs in to its IMAP server, and sends a mail to the caller's own address through its SMTP server. Nothing is kept. " +
      'Takes what would be connected, without a grant, or `mailboxId` for one that is connected.',
    access,
    limit: { by: 'ip', perMinute: testsPerMinute },
    body: Type.Object({ address: Type.Optional(Email), ...signIn, ...settings, mailboxId: Type.Optional(Id) }),
    reply: {
      status: 200,
      schema: Type.Object({
        imap: Type.Object({ ...Tried.properties, folders: Type.Array(Type.String()) }),
        smtp: nullable(Tried),
      }),
    },
    refusals: [],
    actsOutside: true,
    async run({ workspaceId, caller, body }, services) {
      const view = viewOf(services, workspaceId, caller);
      requireAdmin(view);
      const { mailboxId, address } = body;
      if (mailboxId !== undefined) {
        const mailbox = requireMailbox(view, mailboxId);
        return tried(view, services, { mailbox, user: () => services.mailboxUser(workspaceId, mailbox) });
      }
      if (address === undefined) refuseField('invalid_body', 'address', 'is required');
      const id = services.ids.uuid();
      const mailbox = await mailboxOf(view, services, { mailboxId: id, body: { ...body, address } });
      const user: MailUser = { name: mailbox.username, password: body.password ?? '' };
      return tried(view, services, { mailbox, user: async () => user });
    },
  }),
];

function viewOf({ engine }: Services, workspaceId: string, caller: Caller): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}

const redirectUri = ({ config }: Services): string => `${config.baseUrl}${returnPath}`;

function placesOf({ mailAccess }: Services, provider: MailProvider): ProviderPlaces {
  return (
    mailAccess.placesOf(provider) ??
    refuse('not_found', { message: `The operator of this server has registered no app with ${provider}.` })
  );
}

/** Refuses invalid_body, not_found. */
async function mailboxOf(
  view: View,
  services: Services,
  { mailboxId, body }: { mailboxId: string; body: NewBox },
): Promise<NewMailbox> {
  const { departmentId = null, folder = 'INBOX', afterwards = 'nothing', moveTo = null } = body;
  const address = comparable(body.address);
  requireEncrypted(body);
  const common = {
    address,
    departmentId,
    folder,
    afterwards,
    moveTo,
    mayBePrivate: mayBePrivate(services),
  };
  const about = mailboxKeyName(view.workspaceId, mailboxId);
  if (body.grant !== undefined) {
    const { provider, refreshToken } = await granted(view, services, { grant: body.grant, address });
    const { imap, smtp } = placesOf(services, provider);
    const sealedSecret = services.secrets.seal(refreshToken, about);
    return {
      ...common,
      imap,
      smtp,
      username: address,
      signIn: provider,
      sealedSecret,
      mayBePrivate: common.mayBePrivate,
    };
  }
  if (body.imap === undefined) refuseField('invalid_body', 'imap', 'is required');
  if (body.password === undefined) refuseField('invalid_body', 'password', 'is required');
  return {
    ...common,
    imap: body.imap,
    smtp: body.smtp ?? null,
    username: body.username ?? address,
    signIn: 'password',
    sealedSecret: services.secrets.seal(body.password, about),
  };
}

async function granted(
  view: View,
  services: Services,
  { grant, address }: { grant: Static<typeof Grant>; address: string },
): Promise<{ provider: MailProvider; refreshToken: string }> {
  const { mailAccess, mailboxGrants, clock, log } = services;
  const asked = mailboxGrants.verify(grant.state, clock.now());
  const { id: agentId } = requireAdmin(view);
  if (asked?.workspaceId !== view.workspaceId || asked.agentId !== agentId || comparable(asked.address) !== address)
    refuseField('invalid_body', 'grant', 'is not one that you began, or has expired. Connect the mailbox again');
  const { signIn: provider } = asked;
  const tokens = await mailAccess
    .exchange(provider, { code: grant.code, redirectUri: redirectUri(services) })
    .catch((error: unknown): undefined => {
      log.warn({ err: error, provider }, 'a mailbox could not be connected');
    });
  if (tokens?.refreshToken === undefined)
    refuseField('invalid_body', 'grant', `was not accepted by ${provider}. Connect the mailbox again`);
  return { provider, refreshToken: tokens.refreshToken };
}

function requireEncrypted({ imap, smtp }: Pick<NewBox, 'imap' | 'smtp'>): void {
  for (const [field, endpoint] of Object.entries({ imap, smtp }))
    if (endpoint?.security === 'none')
      refuseField(
        'invalid_body',
        `${field}.security`,
        'must be encrypted, so that no one on the way reads the password',
      );
}

function isOther(one: Static<typeof MailEndpoint>, other: MailboxRecord['imap']): boolean {
  return one.host !== other.host || one.port !== other.port || one.security !== other.security;
}

async function tried(
  view: View,
  services: Services,
  { mailbox, user }: { mailbox: NewMailbox; user(): Promise<MailUser> },
) {
  const { imap, smtp, address, folder, mayBePrivate } = mailbox;
  const { email: to, name } = requireAdmin(view);
  const imapTried = await answered(async () => {
    const session = await services.mailboxReader.open({ ...imap, user: await user(), mayBePrivate });
    try {
      const folders = await session.folders();
      await session.open(folder);
      return { answer: 'The mailbox can be read.', folders };
    } finally {
      session.close();
    }
  });
  if (smtp === null) return { imap: { folders: [], ...imapTried }, smtp: null };
  const workspaceName = oneLine(theWorkspace(view).name);
  const mail = {
    id: services.ids.uuid(),
    workspaceId: view.workspaceId,
    from: { address },
    to,
    subject: `A test mail from ${address}`,
    text: `Hello ${oneLine(name)},\n\nthis mail shows that ${workspaceName} can send mail from ${address}.`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
  const smtpTried = await answered(async () => ({
    answer: await services.sendThrough({ ...smtp, user: await user(), mayBePrivate }, mail),
  }));
  return { imap: { folders: [], ...imapTried }, smtp: smtpTried };
}

async function answered<Said extends { answer: string }>(
  work: () => Promise<Said>,
): Promise<(Said & { isWorking: true }) | { answer: string; isWorking: false }> {
  try {
    const said = await work();
    return { ...said, answer: shortened(said.answer), isWorking: true };
  } catch (error) {
    return { isWorking: false, answer: shortened(error instanceof Error ? error.message : String(error)) };
  }
}

const shortened = (text: string): string => oneLine(text).slice(0, maxAnswerChars);

/** As for the workspace's mail server: for others than the operator, a private address would be a way into its network. */
function mayBePrivate({ config, directory }: Services): boolean {
  return config.allowPrivateWebhooks || isOnlyWorkspace(directory.db);
}
