// For tests that call every route: a valid body for each operation that takes one, so that only the tested part is
// wrong, and a way to call a route by its declaration. A new route with a body needs a line here.

import { fullPath, type Route } from '../../http/route.ts';
import type { Answer, Service } from './service.ts';

export interface Fixtures {
  readonly agentId: string;
  readonly departmentId: string;
}

let count = 0;
const unique = (): string => `x${(count += 1)}`;
/** Different from those of support/calls.ts. */
const uniqueNumber = (): string => `+1312555${String((count += 1)).padStart(4, '0')}`;

const soundSignature = {
  id: 'x',
  rawId: 'x',
  type: 'public-key',
  response: { clientDataJSON: 'x', authenticatorData: 'x', signature: 'x' },
};

/** By operation. Made for each call, since names and emails may have to be unique. */
const bodies: Readonly<Record<string, (ids: Fixtures) => object>> = {
  'auth.register': () => ({
    email: `${unique()}@example.com`,
    password: 'correct horse battery staple',
    workspaceName: 'x',
  }),
  'auth.login': () => ({ email: 'nobody@example.com', password: 'x' }),
  'auth.forgotPassword': () => ({ email: 'nobody@example.com' }),
  'auth.resetPassword': () => ({ token: 'x', newPassword: 'correct horse battery staple' }),
  'auth.join': () => ({ code: 'x', password: 'correct horse battery staple' }),
  'me.changePassword': () => ({ currentPassword: 'x', newPassword: 'another horse battery staple' }),
  'signIn.secondFactor': () => ({ challenge: 'x', code: '123456' }),
  'signIn.passkey': () => ({ passkey: soundSignature }),
  'me.confirm': () => ({ password: 'x' }),
  'me.confirmTotp': () => ({ code: '123456' }),
  'me.addPasskey': () => ({
    name: 'x',
    passkey: { id: 'x', rawId: 'x', type: 'public-key', response: { clientDataJSON: 'x', attestationObject: 'x' } },
  }),
  'me.renamePasskey': () => ({ name: 'x' }),
  'push.subscribe': () => ({
    endpoint: `https://push.example.com/${unique()}`,
    keys: {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  }),
  'notifications.update': () => ({ mail: ['own_messages'] }),
  'agent.setStatus': () => ({ status: 'away' }),
  'agent.invite': () => ({ email: `${unique()}@example.com`, name: 'x', role: 'agent' }),
  'agent.update': () => ({ name: 'x' }),
  'workspace.update': () => ({ locale: 'en' }),
  'workspace.changeSettings': () => ({ csatEnabled: true }),
  'department.create': () => ({ name: unique() }),
  'department.update': () => ({ name: unique() }),
  'businessHours.create': () => ({ name: 'x', days: [] }),
  'businessHours.update': () => ({ name: 'x' }),
  'site.create': () => ({ name: 'x', domain: `${unique()}.example` }),
  'site.update': () => ({ expectedVersion: 1, name: 'x' }),
  'apiKey.create': () => ({ name: 'x', scopes: ['verify'] }),
  'billing.checkout': () => ({ planId: 'business', interval: 'monthly' }),
  'billing.addons': () => ({ addons: [] }),
  'webhook.create': () => ({ url: 'https://example.com/hook', events: ['message.created'] }),
  'webhook.update': () => ({ description: 'x' }),
  'webhook.rotateSecret': () => ({}),
  'verifyWebhook.update': () => ({ description: 'x' }),
  'verifyWebhook.rotateSecret': () => ({}),
  'verification.create': () => ({ to: `${unique()}@example.com`, channel: 'email' }),
  'verification.check': () => ({ id: 'x', code: '123456' }),
  'verifyFactor.enrol': () => ({ identity: 'x' }),
  'verifyFactor.check': () => ({ factorId: 'x', code: '123456' }),
  'verifyService.create': () => ({ name: 'x' }),
  'verifyService.update': () => ({ name: 'x' }),
  'verifyWebhook.create': () => ({ url: 'https://example.com/hook' }),
  'verifyCredits.update': () => ({ balanceCents: null }),
  'oauthApp.create': () => ({ name: 'x', redirectUris: ['https://app.example/'], scopes: ['agents:read'] }),
  'oauthApp.update': () => ({ name: 'x' }),
  'savedReply.create': () => ({ shortcut: `/${unique()}`, title: 'x', body: 'x' }),
  'savedReply.update': () => ({ expectedVersion: 1, title: 'x' }),
  'view.create': () => ({ name: 'x' }),
  'view.update': () => ({ name: 'x' }),
  'draft.create': () => ({ mail: { body: 'x' } }),
  'draft.update': () => ({ expectedVersion: 1, mail: { body: 'x' } }),
  'draft.send': () => ({ expectedVersion: 1 }),
  'sender.setSignature': () => ({ signature: 'x' }),
  'mailbox.connect': () => ({
    address: `${unique()}@example.com`,
    password: 'x',
    imap: { host: '127.0.0.1', port: 9, security: 'tls' },
  }),
  'mailbox.update': () => ({ afterwards: 'seen' }),
  'mailbox.authorize': () => ({ provider: 'google', address: 'x@example.com' }),
  'mailbox.test': () => ({
    address: 'x@example.com',
    password: 'x',
    imap: { host: '127.0.0.1', port: 9, security: 'tls' },
  }),
  'mailHabit.change': () => ({ undoSeconds: 5 }),
  'message.send': () => ({ body: 'x' }),
  'ticket.create': () => ({ customerEmail: 'x@example.com', subject: 'x', body: 'x' }),
  'emailDomain.register': () => ({ domain: `${unique()}.example` }),
  'inboundAddress.set': () => ({ addresses: [] }),
  'conversation.status': () => ({ status: 'pending' }),
  'conversation.snooze': () => ({ until: '2027-06-01T09:00:00.000Z' }),
  'contact.merge': () => ({ into: '019aa000-0000-7000-8000-000000000001' }),
  'conversation.merge': () => ({ into: '019aa000-0000-7000-8000-000000000001' }),
  'conversation.unmerge': () => ({}),
  'conversation.split': () => ({}),
  'conversation.follow': () => ({}),
  'conversation.copiedTo': () => ({ copiedTo: [] }),
  'conversation.assignToAgent': ({ agentId }) => ({ agentId, expectedVersion: 1 }),
  'conversation.assignToDepartment': ({ departmentId }) => ({ departmentId }),
  'assignment.accept': () => ({}),
  'assignment.decline': () => ({}),
  'assignment.cancel': () => ({}),
  'call.answer': () => ({}),
  'call.hold': () => ({}),
  'call.transfer': ({ agentId }) => ({ agentId, expectedVersion: 1 }),
  'phoneNumber.search': () => ({ kind: 'local', areaCode: '415' }),
  'phoneNumber.claim': () => ({ e164: uniqueNumber(), displayName: 'x', routingStrategy: 'all_agents' }),
  'phoneNumber.update': () => ({ displayName: 'x' }),
  'voiceProfile.create': () => ({ name: 'x', greetingText: 'Hello.' }),
  'conversation.take': () => ({}),
  'conversation.unassign': () => ({}),
  'conversation.setTags': () => ({ tags: ['x'] }),
  'note.create': () => ({ body: 'x' }),
  'note.write': () => ({ body: 'x' }),
  'conversation.emailTranscript': () => ({ to: 'x@example.com', subject: 'x' }),
  'widget.openSession': () => ({ siteId: 'x', url: 'https://example.com/' }),
  'widget.viewPage': () => ({ url: 'https://example.com/' }),
  'widget.identify': () => ({ name: 'x' }),
  'widget.startChat': () => ({ body: 'x' }),
  'widget.leaveTicket': () => ({ body: 'x', email: 'x@example.com' }),
  'widget.sendMessage': () => ({ body: 'x' }),
  'widget.rate': () => ({ rating: 5 }),
  'widget.voteArticle': () => ({ helpful: true }),
  'widget.presignUpload': () => ({ filename: 'x.txt', contentType: 'text/plain', size: 1 }),
  'uploads.presign': () => ({ filename: 'x.txt', contentType: 'text/plain', size: 1 }),
  'uploads.importFromUrl': () => ({ url: 'http://127.0.0.1/x.png' }),
  'kb.ingestUrl': () => ({ url: 'http://127.0.0.1/' }),
  'kb.ingestFile': () => ({ url: 'http://127.0.0.1/x.pdf' }),
  'kb.search': () => ({ query: 'x' }),
  'kb.suggest': () => ({ query: 'x' }),
  'kb.chooseModel': () => ({ name: 'builtin' }),
  'kb.changeSettings': () => ({ threshold: 0.2 }),
  'help.vote': () => ({ helpful: 'yes' }),
  'kb.adoptDocument': () => ({}),
  'kb.createArticle': () => ({ title: 'x', body: 'x' }),
  'kb.updateArticle': () => ({ expectedVersion: 1, title: 'x' }),
  'widget.noteCampaign': () => ({ campaignId: '019aa000-0000-7000-8000-000000000001', type: 'click' }),
  'campaign.create': () => ({ name: 'x', triggerRules: {}, content: { body: 'x' } }),
  'campaign.update': () => ({ name: 'x' }),
  'urlMatch.try': () => ({ condition: { operator: 'contains', value: 'x' }, url: 'https://example.com/' }),
  'goal.create': () => ({ name: 'x', condition: { operator: 'contains', value: 'x' } }),
  'goal.update': () => ({ name: 'x' }),
  'contact.create': () => ({ name: 'x' }),
  'conversation.import': () => ({
    source: 'x',
    conversations: [
      {
        externalId: unique(),
        channel: 'ticket',
        status: 'solved',
        customer: { email: 'x@example.com' },
        messages: [{ externalId: 'x', from: 'customer', body: 'x', createdAt: '2020-01-01T00:00:00.000Z' }],
      },
    ],
  }),
  'import.resume': () => ({}),
  'import.create': () => ({ kind: 'mbox', name: 'x.mbox', bytes: 10 }),
  'contact.import': () => ({ rows: [{ email: 'x@example.com' }] }),
  'contact.update': () => ({ name: 'x' }),
  'commerce.set': () => ({ url: null }),
  'mailServer.set': () => ({ host: null }),
  'ai.setModel': () => ({ url: null }),
  'ai.draft': () => ({ conversationId: '00000000-0000-4000-8000-000000000000' }),
  'ai.summarise': () => ({ conversationId: '00000000-0000-4000-8000-000000000000' }),
  'ai.rewrite': () => ({ text: 'x', how: 'shorter' }),
};

/** Undefined for a route without a body. Throws for a route with a body and no line above. */
export function soundBody(route: Route, ids: Fixtures): object | undefined {
  if (route.body === undefined) return undefined;
  const make = bodies[route.operation];
  if (make === undefined) throw new Error(`test/support/endpoints.ts has no sound body for ${route.operation}`);
  return make(ids);
}

/** The required query parameters: the first allowed value, or any text. */
export function soundQuery(route: Route): string {
  const { properties = {}, required = [] } = (route.query ?? {}) as {
    properties?: Readonly<Record<string, { enum?: readonly string[] }>>;
    required?: readonly string[];
  };
  return required.length === 0
    ? ''
    : `?${required.map((name) => `${name}=${properties[name]?.enum?.[0] ?? (name === 'ids' ? '019aa000-0000-7000-8000-000000000001' : 'x')}`).join('&')}`;
}

export function paramsOf(route: Route): string[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The path with these values as parameters. Throws if a parameter has no value. */
export function pathWith(route: Route, values: Readonly<Record<string, string>>): string {
  return fullPath(route).replace(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? raise(`no value for {${name}} of ${route.operation}`),
  );
}

/** `headers` as in Service.call. */
export function callRoute(
  service: Service,
  route: Route,
  options: {
    values: Readonly<Record<string, string>>;
    token?: string | undefined;
    body?: object | undefined;
    query?: string;
    headers?: Record<string, string>;
  },
): Promise<Answer> {
  const { token, body, headers, query = '' } = options;
  return service.call(route.method, `/${pathWith(route, options.values)}${query}`, {
    token,
    body,
    ...(headers && { headers }),
  });
}

function raise(message: string): never {
  throw new Error(message);
}
