// What must be there before some operations can be done at all: a token that was mailed, a call that is answered, a link that was signed, a
// provider's event. Each is made anew before every request, since most count once, and is what somebody holds who means well; requests.ts
// begins with it and gets things wrong. What requests from the pools alone bring about has no place here.

import { reportTypes } from '../../http/report-types.ts';
import { password } from '../support/service.ts';
import { accountSid } from '../support/twilio.ts';
import type { Known } from './requests.ts';
import type { World } from './world.ts';

type Stage = (world: World) => Promise<Known>;

const jobs = ['chats', 'tickets', 'calls'];
let count = 0;

/** By operation. */
const stages: Readonly<Record<string, Stage>> = {
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
    return { caller: 'admin', params: { conversationId }, body: { agentId: await ableAgent(world), expectedVersion: (await world.asAdmin('GET', `/calls/${conversationId}`)).version } };
  },
  'conversation.assignToAgent': async (world) => {
    const { id, version } = await world.service.chat(await world.admin());
    return { caller: 'admin', params: { conversationId: id }, body: { agentId: await ableAgent(world), expectedVersion: version } };
  },

  'storage.put': (world) => presignedUpload(world),
  'storage.read': async (world) => {
    const { params = {}, query, headers, body } = await presignedUpload(world);
    const link = `${world.service.url}/storage/${params['workspaceId']}/${params['kind']}/${params['uploadId']}/${params['filename']}?${new URLSearchParams(query)}`;
    await fetch(link, { method: 'PUT', headers: { ...headers }, body: Buffer.from(body) });
    return { params };
  },
  'report.download': async (world) => {
    const type = reportTypes[(count += 1) % reportTypes.length] ?? '';
    const { url } = await world.asAdmin('GET', `/reports/export?type=${type}&format=${count % 2 === 0 ? 'csv' : 'json'}`);
    return { params: { token: new URL(url).pathname.split('/').at(-1) ?? '' } };
  },
  'uploads.importFromUrl': async (world) => ({ caller: 'admin', body: { url: `${world.siteUrl}/logo.png` } }),
  'kb.adoptDocument': async (world) => {
    const url = `${world.siteUrl}/pages/${(count += 1)}`;
    await world.asAdmin('POST', '/kb/ingest/url', { url, maxPages: 1 });
    await world.service.settled();
    const { documents } = await world.asAdmin('GET', '/kb/documents');
    return { caller: 'admin', params: { documentId: documents.find(({ sourceUrl }: { sourceUrl: string | null }) => sourceUrl === url)?.id ?? raise(`${url} was not read`) } };
  },
};

/** Those that another company's servers call. */
const providerStages: Readonly<Record<string, Stage>> = {
  'carrier.twilio': async (world) => {
    const call = { AccountSid: accountSid, CallSid: `CA${String((count += 1)).padStart(32, '0')}`, From: '+14155550123', To: world.line.e164 };
    const [hook = '', said] = hooks[count % hooks.length] ?? [];
    return { params: { hook }, body: { ...call, ...said } };
  },
  'billing.webhook': async (world) => ({ body: world.billingEvent() }),
};

/** What is known of a request to the operation that would be done; undefined where nothing has to be there. */
export function stageOf(world: World, operation: string): (() => Promise<Known>) | undefined {
  const stage = stages[operation] ?? (world.stripe === undefined ? undefined : providerStages[operation]);
  return stage && (() => stage(world));
}

/** What Twilio says on each of its ways. */
const hooks: readonly [string, Readonly<Record<string, string>>][] = [
  ['voice', { CallStatus: 'ringing', Direction: 'inbound' }],
  ['status', { CallStatus: 'completed', CallDuration: '73' }],
  ['voicemail', { RecordingUrl: 'https://api.twilio.com/Recordings/RE1', RecordingDuration: '12' }],
  ['transcription', { RecordingUrl: 'https://api.twilio.com/Recordings/RE1', TranscriptionStatus: 'completed', TranscriptionText: 'Call me back.' }],
  ['recording', { RecordingUrl: 'https://api.twilio.com/Recordings/RE1', RecordingStatus: 'completed' }],
];

/** What the newest mail to this address holds. */
async function mailed({ service }: World, email: string, pattern: RegExp): Promise<string> {
  await service.settled();
  return pattern.exec(service.newestMail(email)?.text ?? '')?.[1] ?? raise(`no mail to ${email} with ${pattern}`);
}

async function rungCall(world: World): Promise<string> {
  // Whoever is in a call answers no other.
  const { calls } = await world.asAdmin('GET', '/calls?state=live&limit=200');
  for (const { id } of calls) await world.asAdmin('POST', `/calls/${id}/hangup`);
  return world.ring();
}

async function answeredCall(world: World): Promise<string> {
  const id = await rungCall(world);
  await world.asAdmin('POST', `/calls/${id}/answer`, {});
  return id;
}

/** Whose jobs may have been taken away meanwhile. */
async function ableAgent(world: World): Promise<string> {
  const { agentId } = world.people.agent;
  await world.asAdmin('PATCH', `/agents/${agentId}`, { channels: jobs });
  return agentId;
}

async function presignedUpload(world: World): Promise<Known & { readonly body: Uint8Array }> {
  const file = { filename: 'a.txt', contentType: 'text/plain', size: 64 };
  const { pathname, searchParams } = new URL((await world.asAdmin('POST', '/uploads/presigned', file)).uploadUrl);
  const [, , workspaceId = '', kind = '', uploadId = '', filename = ''] = pathname.split('/');
  return { params: { workspaceId, kind, uploadId, filename }, query: Object.fromEntries(searchParams), headers: { 'Content-Type': file.contentType }, body: Buffer.from('Where is my order?') };
}

function raise(message: string): never {
  throw new Error(message);
}
