// Prepares what some operations need: a mailed token, an answered call, a signed link, a provider's event. Each is
// created before every request, since most work once; requests.ts starts from it and breaks parts. What requests from
// the pools can create does not belong here.

import { gzipSync } from 'node:zlib';
import { Secret, TOTP } from 'otpauth';
import { suppress } from '../../engine/mail/suppressions.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { iconSizes } from '../../http/browser/app-icon.ts';
import { guideNames, guideSections } from '../../http/documents/guide.ts';
import { reportTypes } from '../../http/exports/report-types.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { password } from '../support/service.ts';
import { accountSid } from '../support/twilio.ts';
import { knowledgeStages } from './knowledge-stages.ts';
import type { Known } from './requests.ts';
import { signInStages } from './sign-in-stages.ts';
import type { World } from './world.ts';

type Stage = (world: World) => Promise<Known>;

const suppressOne = command('test.suppress', (ctx, { email }: { email: string }): void =>
  suppress(ctx, email, 'bounce', '550 no such user'),
);
/** As if its mail had come by SMTP. */
const keepSource = command('test.keepSource', (ctx, { messageId }: { messageId: string }): void => {
  ctx.db.run('UPDATE mail SET sourceBytes = 5, sourceKeptBytes = 5, source = ? WHERE messageId = ?', [
    gzipSync('Hello'),
    messageId,
  ]);
});
const jobs = ['chats', 'tickets', 'calls'];
/** The name of an app for one consent. */
const fleeting = 'A fleeting app';
const crawlTries = 100;
const importedFile = Buffer.from(
  'From kim@example.org Mon Mar  1 10:00:00 2021\nFrom: kim@example.org\nTo: shop@example.org\nSubject: A cup\n\nBroken.\n',
);
let count = 0;

/** By operation. */
const stages: Readonly<Record<string, Stage>> = {
  ...signInStages,
  ...knowledgeStages,
  'auth.join': async (world) => {
    const email = `joining${(count += 1)}@example.org`;
    await world.asAdmin('POST', '/agents/invite', { email, name: 'New', role: 'agent' });
    return { body: { code: await mailed(world, email, /\/join\/([\w-]+)/), password } };
  },
  'auth.resetPassword': async (world) => {
    const email = world.emailOf(world.people.agent);
    await world.asAdmin('POST', '/auth/forgot-password', { email });
    return { body: { token: await mailed(world, email, /reset-password\?token=([\w-]+)/), newPassword: password } };
  },

  'call.answer': async (world) => ({ caller: 'admin', params: { conversationId: await rungCall(world) }, body: {} }),
  'call.hold': async (world) => ({ caller: 'admin', params: { conversationId: await answeredCall(world) }, body: {} }),
  'call.transfer': async (world) => {
    const conversationId = await answeredCall(world);
    return {
      caller: 'admin',
      params: { conversationId },
      body: {
        agentId: await ableAgent(world),
        expectedVersion: (await world.asAdmin('GET', `/calls/${conversationId}`)).version,
      },
    };
  },
  'conversation.assignToAgent': async (world) => {
    const { id, version } = await world.service.chat(await world.admin());
    return {
      caller: 'admin',
      params: { conversationId: id },
      body: { agentId: await ableAgent(world), expectedVersion: version },
    };
  },
  'conversation.unassign': async (world) => {
    const { id } = await world.service.chat(await world.admin());
    // Refused if another agent has it already.
    await world.service.post(`/conversations/${id}/take`, {}, (await world.admin()).token);
    const { version } = await world.asAdmin('GET', `/conversations/${id}`);
    return { caller: 'admin', params: { conversationId: id }, body: { expectedVersion: version } };
  },
  // The chats of the pools are soon an agent's, or closed.
  'conversation.take': async (world) => {
    const { id } = await world.service.chat(await world.admin());
    return { caller: 'admin', params: { conversationId: id }, body: {} };
  },
  'conversation.snooze': async (world) => {
    const { id, version } = await world.service.chat(await world.admin());
    return {
      caller: 'admin',
      params: { conversationId: id },
      body: { until: new Date(world.service.clock.now() + 3_600_000).toISOString(), expectedVersion: version },
    };
  },
  'message.send': async (world) => {
    const { id } = await world.service.chat(await world.admin());
    return { caller: 'admin', params: { conversationId: id }, body: { body: 'It is on its way.' } };
  },
  'webhook.test': async (world) => ({ caller: 'admin', params: { webhookId: await ownWebhook(world) } }),
  'webhook.retryDelivery': async (world) => {
    const webhookId = await ownWebhook(world);
    await world.asAdmin('POST', `/webhooks/${webhookId}/test`);
    const { deliveries } = await world.asAdmin('GET', `/webhooks/${webhookId}/deliveries`);
    return { caller: 'admin', params: { webhookId, deliveryId: deliveries[0].id } };
  },
  'draft.send': async (world) => {
    const mail = { to: ['kim@example.org'], subject: 'Your order', body: 'It is on its way.' };
    const { id, version } = await world.asAdmin('POST', '/drafts', { mail });
    return { caller: 'admin', params: { draftId: id }, body: { expectedVersion: version } };
  },
  'mailbox.authorize': async () => ({ caller: 'admin', body: { provider: 'google', address: 'kim@example.org' } }),

  'notifications.endByLink': async (world) => {
    const { workspaceId, agentId } = await world.admin();
    const { noticeLinks } = world.service.running.services;
    return { params: { token: noticeLinks.issue({ workspaceId, agentId, reasons: ['queue'] }) } };
  },

  'import.create': async (world) => {
    await clearImports(world);
    return { caller: 'admin', body: { kind: 'mbox', name: 'old.mbox', bytes: importedFile.length } };
  },
  'import.receive': async (world) => ({
    caller: 'admin',
    params: { importId: await newImport(world) },
    query: { offset: '0' },
    headers: { 'Content-Type': 'application/octet-stream' },
    body: importedFile,
  }),
  'import.stop': async (world) => ({ caller: 'admin', params: { importId: await waitingImport(world) } }),
  'import.resume': async (world) => {
    const importId = await waitingImport(world);
    await world.asAdmin('POST', `/imports/${importId}/stop`);
    return { caller: 'admin', params: { importId }, body: {} };
  },
  'import.read': async (world) => ({ caller: 'admin', params: { importId: await newImport(world) } }),
  'import.delete': async (world) => ({ caller: 'admin', params: { importId: await newImport(world) } }),
  'storage.put': (world) => presignedUpload(world),
  'storage.read': async (world) => {
    const { params = {}, query, headers, body } = await presignedUpload(world);
    const link = `${world.service.url}/storage/${params['workspaceId']}/${params['kind']}/${params['uploadId']}/${params['filename']}?${new URLSearchParams(query)}`;
    await fetch(link, { method: 'PUT', headers: { ...headers }, body: Buffer.from(body) });
    return { params };
  },
  'report.export': async () => ({
    caller: 'admin',
    query: { type: reportTypes[(count += 1) % reportTypes.length] ?? '', format: 'csv' },
  }),
  'report.download': async (world) => {
    const type = reportTypes[(count += 1) % reportTypes.length] ?? '';
    const { url } = await world.asAdmin(
      'GET',
      `/reports/export?type=${type}&format=${count % 2 === 0 ? 'csv' : 'json'}`,
    );
    return { params: { token: new URL(url).pathname.split('/').at(-1) ?? '' } };
  },
  'uploads.importFromUrl': async (world) => ({ caller: 'admin', body: { url: `${world.siteUrl}/logo.png` } }),
  'kb.cancelJob': async (world) => {
    // The number of queued and running crawls is limited.
    const waiting = (await world.asAdmin('GET', '/kb/jobs')).jobs.find(
      ({ status }: { status: string }) => status === 'queued' || status === 'running',
    );
    return {
      caller: 'admin',
      params: {
        jobId:
          waiting?.id ??
          (await world.asAdmin('POST', '/kb/ingest/url', { url: `${world.siteUrl}/pages/${(count += 1)}` })).jobId,
      },
    };
  },
  'kb.adoptDocument': async (world) => ({ caller: 'admin', params: { documentId: await crawledDocument(world) } }),
  'kb.deleteDocument': async (world) => ({ caller: 'admin', params: { documentId: await crawledDocument(world) } }),

  'businessHours.delete': async (world) => {
    // The number of rules is limited.
    const [present] = (await world.asAdmin('GET', '/business-hours')).businessHours;
    return {
      caller: 'admin',
      params: {
        ruleId: (present ?? (await world.asAdmin('POST', '/business-hours', { name: 'Another', days: [] }))).id,
      },
    };
  },
  'note.delete': async (world) => {
    const { id: conversationId } = await world.service.chat(await world.admin());
    return {
      caller: 'admin',
      params: {
        conversationId,
        noteId: (await world.asAdmin('POST', `/conversations/${conversationId}/notes`, { body: 'A note' })).note.id,
      },
    };
  },
  'agent.resendInvite': async (world) => {
    const { id } = await world.asAdmin('POST', '/agents/invite', {
      email: `invited${(count += 1)}@example.org`,
      name: 'New',
      role: 'agent',
    });
    return { caller: 'admin', params: { agentId: id } };
  },
  'site.update': async (world) => {
    const { siteId } = await world.admin();
    return {
      caller: 'admin',
      params: { siteId },
      body: { expectedVersion: (await world.asAdmin('GET', `/sites/${siteId}`)).version, name: 'Shop' },
    };
  },
  'emailDomain.readOne': async (world) => ({
    caller: 'admin',
    params: { domainId: (await world.asAdmin('POST', '/email/domain', { domain: 'shop1.example' })).domain.id },
  }),
  'message.original': (world) => mailedMessage(world),
  'message.source': async (world) => {
    const mailed = await mailedMessage(world);
    const { workspaceId } = await world.admin();
    await world.service.running.services.engine.execute(keepSource, {
      workspaceId,
      caller: systemCaller,
      params: mailed.params,
    });
    return mailed;
  },
  'message.picture': async (world) => {
    const { caller, params } = await mailedMessage(world, { html: `<p>x<img src="${world.siteUrl}/logo.png"></p>` });
    return { caller, params: { ...params, number: '1' } };
  },
  'conversation.merge': async (world) => {
    const [one, other] = [(await mailedMessage(world)).params, (await mailedMessage(world)).params];
    return {
      caller: 'admin',
      params: { conversationId: one.conversationId },
      body: { into: other.conversationId },
    };
  },
  'conversation.unmerge': async (world) => {
    const [one, other] = [(await mailedMessage(world)).params, (await mailedMessage(world)).params];
    await world.asAdmin('POST', `/conversations/${one.conversationId}/merge`, { into: other.conversationId });
    return { caller: 'admin', params: { conversationId: one.conversationId }, body: {} };
  },
  'conversation.split': async (world) => {
    const { conversationId, messageId } = (await mailedMessage(world)).params;
    await world.asAdmin('POST', `/conversations/${conversationId}/messages`, { body: 'It stays.' });
    return { caller: 'admin', params: { conversationId, messageId }, body: {} };
  },
  'conversation.copiedTo': async (world) => ({
    caller: 'admin',
    params: { conversationId: (await mailedMessage(world)).params.conversationId },
    body: { copiedTo: ['dora@example.org'] },
  }),
  'contact.merge': async (world) => ({
    caller: 'admin',
    params: { contactId: await newContact(world) },
    body: { into: await newContact(world) },
  }),
  'contact.unmerge': async (world) => {
    const contactId = await newContact(world);
    await world.asAdmin('POST', `/contacts/${contactId}/merge`, { into: await newContact(world) });
    return { caller: 'admin', params: { contactId } };
  },
  'suppression.delete': async (world) => {
    const email = `bounced${(count += 1)}@example.org`;
    const { workspaceId } = await world.admin();
    await world.service.running.services.engine.execute(suppressOne, {
      workspaceId,
      caller: systemCaller,
      params: { email },
    });
    return { caller: 'admin', params: { email } };
  },

  'oauthGrant.withdraw': async (world) => {
    const [present] = (await world.asAdmin('GET', '/oauth-grants')).grants;
    return { caller: 'admin', params: { grantId: present?.id ?? (await consented(world)) } };
  },
  'oauth.authorize': async (world) => ({ query: world.authorization() }),
  'verification.check': async (world) => ({
    caller: 'key',
    body: { id: world.ours.ids['verificationId'] ?? raise('no verification'), code: '123456' },
  }),
  'verifyFactor.check': async (world) => {
    const { factorId, secret } = await world.asKey('POST', '/verify/totp/enroll', { identity: 'kim@example.org' });
    return {
      caller: 'key',
      body: {
        factorId,
        code: new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: world.service.clock.now() }),
      },
    };
  },
  'verifyService.delete': async (world) => ({
    caller: 'admin',
    params: { serviceId: (await world.asAdmin('POST', '/verify/services', { name: 'Another' })).id },
  }),
  ...Object.fromEntries(
    ['read', 'delete', 'rotateSecret', 'test', 'deliveries'].map(
      (act) =>
        [
          `verifyWebhook.${act}`,
          async (world: World) => ({ caller: 'admin', params: { webhookId: await verifyWebhook(world) } }),
        ] as const,
    ),
  ),
  'verifyWebhook.update': async (world) => ({
    caller: 'admin',
    params: { webhookId: await verifyWebhook(world) },
    body: { description: 'Another' },
  }),
  ...Object.fromEntries(['delivery', 'retryDelivery'].map((act) => [`verifyWebhook.${act}`, verifyDelivery] as const)),

  'widget.app': async (world) => ({ params: { file: await namedIn(world, '/widget.js', /app-[\w-]+\.js/) } }),
  'system.guide': async () => ({ params: { section: guideSections[0] ?? '', page: guideNames[0] ?? '' } }),
  'page.icon': async () => ({ params: { file: `${iconSizes[0]}.png` } }),
  'page.asset': async (world) => ({ params: { file: await namedIn(world, '/sign-in', /(?<=\/assets\/)[^"]+/) } }),
};

/** Operations that other companies' servers call. */
const providerStages: Readonly<Record<string, Stage>> = {
  'carrier.twilio': async (world) => {
    const call = {
      AccountSid: accountSid,
      CallSid: `CA${String((count += 1)).padStart(32, '0')}`,
      From: '+14155550123',
      To: world.line.e164,
    };
    const [hook = '', said] = hooks[count % hooks.length] ?? [];
    return { params: { hook }, body: { ...call, ...said } };
  },
  'billing.webhook': async (world) => ({ body: world.billingEvent() }),
};

/** The known parts of a request that would succeed; undefined if the operation needs nothing. */
export function stageOf(world: World, operation: string): (() => Promise<Known>) | undefined {
  const stage = stages[operation] ?? (world.stripe === undefined ? undefined : providerStages[operation]);
  return stage && (() => stage(world));
}

/** Twilio's requests on each of its hooks. */
const hooks: readonly [string, Readonly<Record<string, string>>][] = [
  ['voice', { CallStatus: 'ringing', Direction: 'inbound' }],
  ['status', { CallStatus: 'completed', CallDuration: '73' }],
  ['voicemail', { RecordingUrl: 'https://api.twilio.com/Recordings/RE1', RecordingDuration: '12' }],
  [
    'transcription',
    {
      RecordingUrl: 'https://api.twilio.com/Recordings/RE1',
      TranscriptionStatus: 'completed',
      TranscriptionText: 'Call me back.',
    },
  ],
  ['recording', { RecordingUrl: 'https://api.twilio.com/Recordings/RE1', RecordingStatus: 'completed' }],
];

/** Text in the newest mail to this address. */
async function mailed({ service }: World, email: string, pattern: RegExp): Promise<string> {
  await service.settled();
  return pattern.exec(service.newestMail(email)?.text ?? '')?.[1] ?? raise(`no mail to ${email} with ${pattern}`);
}

async function rungCall(world: World): Promise<string> {
  // An agent in a call cannot answer another.
  const { calls } = await world.asAdmin('GET', '/calls?state=live&limit=200');
  for (const { id } of calls) await world.asAdmin('POST', `/calls/${id}/hangup`);
  return world.ring();
}

async function answeredCall(world: World): Promise<string> {
  const id = await rungCall(world);
  await world.asAdmin('POST', `/calls/${id}/answer`, {});
  return id;
}

/** Its channels may have been changed meanwhile. */
async function ableAgent(world: World): Promise<string> {
  const { agentId } = world.people.agent;
  await world.asAdmin('PATCH', `/agents/${agentId}`, { channels: jobs });
  return agentId;
}

async function crawledDocument(world: World): Promise<string> {
  const url = `${world.siteUrl}/pages/${(count += 1)}`;
  await world.asAdmin('POST', '/kb/ingest/url', { url, maxPages: 1 });
  // Earlier crawls run first, and some of them wait for a retry.
  for (let tries = 0; tries < crawlTries; tries += 1) {
    await world.service.pass(1000);
    const { documents } = await world.asAdmin('GET', '/kb/documents');
    const read = documents.find(({ sourceUrl }: { sourceUrl: string | null }) => sourceUrl === url);
    if (read !== undefined) return read.id;
  }
  return raise(`${url} was not read`);
}

async function newContact(world: World): Promise<string> {
  return (await world.asAdmin('POST', '/contacts', { name: `Twin ${(count += 1)}` })).contact.id;
}

/** The name of a file that one of our pages or scripts loads. */
async function namedIn({ service }: World, path: string, pattern: RegExp): Promise<string> {
  const text = await (await fetch(`${service.url}${path}`)).text();
  return pattern.exec(text)?.[0] ?? raise(`${path} names no ${pattern}`);
}

async function consented(world: World): Promise<string> {
  const admin = await world.admin();
  // The number per workspace is limited.
  for (const { id, name } of (await world.asAdmin('GET', '/oauth-apps')).oauthApps)
    if (name === fleeting) await world.asAdmin('DELETE', `/oauth-apps/${id}`);
  const app = await registerApp(world.service, admin, { name: fleeting, scopes: ['agents:read'] });
  await tokensOf(world.service, app, admin, { scope: 'agents:read' });
  // A call beside this one may have deleted the app to make room for its own.
  const [grant] = (await world.asAdmin('GET', '/oauth-grants')).grants;
  return grant?.id ?? consented(world);
}

async function ownWebhook(world: World): Promise<string> {
  const known = await world.asAdmin('GET', '/webhooks');
  const url = `${world.siteUrl}/hook`;
  const present = known.webhooks.find((one: { url: string }) => one.url === url);
  const { id } = present ?? (await world.asAdmin('POST', '/webhooks', { url, events: ['note.created'] }));
  // It may have been disabled.
  await world.asAdmin('PATCH', `/webhooks/${id}`, { status: 'active' });
  return id;
}

async function verifyWebhook(world: World): Promise<string> {
  // The number per workspace is limited.
  const [present] = (await world.asAdmin('GET', '/verify/webhooks')).webhooks;
  const { id } = present ?? (await world.asAdmin('POST', '/verify/webhooks', { url: `${world.siteUrl}/hook` }));
  // It may have been disabled.
  await world.asAdmin('PATCH', `/verify/webhooks/${id}`, { status: 'active' });
  return id;
}

async function verifyDelivery(world: World): Promise<Known> {
  const webhookId = await verifyWebhook(world);
  await world.asAdmin('POST', `/verify/webhooks/${webhookId}/test`);
  const { deliveries } = await world.asAdmin('GET', `/verify/webhooks/${webhookId}/deliveries`);
  return { caller: 'admin', params: { webhookId, deliveryId: deliveries[0].id } };
}

async function presignedUpload(world: World): Promise<Known & { readonly body: Uint8Array }> {
  const file = { filename: 'a.txt', contentType: 'text/plain', size: 64 };
  const { pathname, searchParams } = new URL((await world.asAdmin('POST', '/uploads/presigned', file)).uploadUrl);
  const [, , workspaceId = '', kind = '', uploadId = '', filename = ''] = pathname.split('/');
  return {
    params: { workspaceId, kind, uploadId, filename },
    query: Object.fromEntries(searchParams),
    headers: { 'Content-Type': file.contentType },
    body: Buffer.from('Where is my order?'),
  };
}

function raise(message: string): never {
  throw new Error(message);
}

/** The number of unfinished imports is limited. */
async function clearImports(world: World): Promise<void> {
  for (const { id } of (await world.asAdmin('GET', '/imports')).imports)
    await world.asAdmin('DELETE', `/imports/${id}`);
}

/** One that receives its file. */
async function newImport(world: World): Promise<string> {
  await clearImports(world);
  return (await world.asAdmin('POST', '/imports', { kind: 'mbox', name: 'old.mbox', bytes: importedFile.length })).id;
}

/** One whose service asks to wait. */
async function waitingImport(world: World): Promise<string> {
  await clearImports(world);
  const { id } = await world.asAdmin('POST', '/imports', {
    kind: 'chatwoot',
    url: `${world.siteUrl}/limited`,
    account: '1',
    token: 'x',
  });
  for (let tries = 0; tries < crawlTries; tries += 1) {
    await world.service.settled();
    if ((await world.asAdmin('GET', `/imports/${id}`)).error !== null) break;
  }
  return id;
}

/** A ticket's message that came by mail. */
async function mailedMessage(world: World, mail: { html?: string } = {}) {
  const subject = `Where is number ${(count += 1)}?`;
  // Messages of one moment get times of their own in their conversations, so others may be ahead of the clock.
  await world.service.pass(1000);
  // Its secret may have been changed by another operation.
  const { inboundEmail } = await world.asAdmin('GET', '/workspace/integrations');
  const { status, body } = await world.service.deliver(inboundEmail, {
    from: `kim${count}@example.org`,
    subject,
    ...mail,
  });
  if (status !== 200) raise(`a mail was answered with ${status}: ${JSON.stringify(body)}`);
  const { conversations } = await world.asAdmin('GET', '/conversations/queue?channel=ticket&sort=activity');
  const conversationId: string =
    conversations.find((one: { subject: string }) => one.subject === subject)?.id ??
    raise(`no ticket of the mail ${subject}`);
  const { messages } = await world.asAdmin('GET', `/conversations/${conversationId}/messages`);
  const messageId: string =
    messages.find((one: { senderType: string }) => one.senderType === 'visitor')?.id ??
    raise('a mail without a message');
  return { caller: 'admin', params: { conversationId, messageId } } as const;
}
