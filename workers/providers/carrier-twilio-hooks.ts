// Twilio's webhooks and the replies: verifies X-Twilio-Signature, reads forms as events of a call, writes orders as
// TwiML. Makes no request itself.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallOrder, CarriedCall, CarrierEvent, CarrierHooks, Greeting, HookName } from './carrier.ts';

/** Twilio transcribes recordings of up to two minutes. */
const voicemailSeconds = 120;
/** One queue for all waiting callers, because Twilio keeps every queue ever named. */
const queueName = 'switchboard';
const voicemailPrompt = 'No one can take your call right now. Please leave a message after the tone.';
/** Statuses of ended calls. */
const overStatuses: ReadonlySet<string> = new Set(['completed', 'busy', 'failed', 'no-answer', 'canceled']);
const maxTranscriptChars = 10_000;

export function hookUrl(baseUrl: string, hook: HookName, call?: CarriedCall): string {
  const url = `${baseUrl}/api/v1/carrier/twilio/${hook}`;
  if (call === undefined) return url;
  // Callbacks about recordings do not include the numbers.
  return `${url}?${new URLSearchParams({ to: call.toE164, ...(call.fromE164 === null ? {} : { from: call.fromE164 }) })}`;
}

export function twilioHooks(options: { accountSid: string; authToken: string; baseUrl: string }): CarrierHooks {
  return {
    verify({ url, body, signature }) {
      const form = new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
      if (signature === undefined || form.get('AccountSid') !== options.accountSid) return undefined;
      return addressesOf(url).some((address) => isSame(signature, twilioSignature(options.authToken, address, form)))
        ? form
        : undefined;
    },
    eventOf,
    answer(hook, call, order) {
      // Only the voice hook asks what to do; the others report.
      if (hook === 'voice') return twimlOf(options.baseUrl, call, order);
      return hook === 'voicemail' ? response('<Hangup/>') : response('');
    },
  };
}

/** HMAC-SHA1 over the address and every parameter, sorted by name, each value after its name; base64. */
export function twilioSignature(authToken: string, url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  const signed = names
    .map((name) =>
      [...new Set(form.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
  return createHmac('sha1', authToken)
    .update(url + signed)
    .digest('base64');
}

/** Twilio signs the address with or without its port, depending on how it connected. */
function addressesOf(url: string): string[] {
  const { protocol, host, hostname, port } = new URL(url);
  const rest = url.slice(url.indexOf('//') + 2).replace(/^[^/?#]*/, '');
  const withPort = port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : host;
  return [`${protocol}//${hostname}${rest}`, `${protocol}//${withPort}${rest}`];
}

function isSame(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}

function eventOf(hook: HookName, form: URLSearchParams, query: URLSearchParams): CarrierEvent | undefined {
  const callId = form.get('CallSid');
  const to = form.get('To') ?? query.get('to');
  if (callId === null || to === null) return undefined;
  const call = { callId, to, from: callerOf(form.get('From') ?? query.get('from')) };
  switch (hook) {
    case 'voice':
      return { ...call, type: 'ringing' };
    case 'status':
      return overStatuses.has(form.get('CallStatus') ?? '')
        ? { ...call, type: 'ended', durationMs: millisecondsIn(form.get('CallDuration')) }
        : undefined;
    case 'voicemail':
      return {
        ...call,
        type: 'voicemail_left',
        durationMs: millisecondsIn(form.get('RecordingDuration')),
        recordingUrl: mediaOf(form.get('RecordingUrl')),
      };
    case 'transcription': {
      const transcript = form.get('TranscriptionText')?.trim() ?? '';
      if (form.get('TranscriptionStatus') !== 'completed' || transcript === '') return undefined;
      return {
        ...call,
        type: 'transcript_ready',
        transcript: transcript.slice(0, maxTranscriptChars),
        recordingUrl: mediaOf(form.get('RecordingUrl')),
      };
    }
    case 'recording': {
      const recordingUrl = mediaOf(form.get('RecordingUrl'));
      return recordingUrl === undefined || form.get('RecordingStatus') !== 'completed'
        ? undefined
        : { ...call, type: 'recording_ready', recordingUrl };
    }
  }
}

/** A withheld number arrives as a word, or as a number that spells one; neither can be called back. */
function callerOf(from: string | null): string | null {
  const spelled = new Set(['+266696687', '+7378742833', '+2562533', '+8656696', '+86282452253']);
  return from !== null && /^\+[1-9]\d{6,14}$/.test(from) && !spelled.has(from) ? from : null;
}

function millisecondsIn(seconds: string | null): number | undefined {
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/** The recording's address with the extension of its audio. */
function mediaOf(url: string | null): string | undefined {
  return url === null || !/^https?:\/\//.test(url) ? undefined : `${url}.mp3`;
}

export function twimlOf(baseUrl: string, call: CarriedCall, order: CallOrder): string {
  switch (order.kind) {
    case 'ring':
      return response(greetingOf(order.greeting) + waiting);
    case 'hold':
      return response(waiting);
    case 'connect':
      return response(
        `${order.startsRecording ? recording(hookUrl(baseUrl, 'recording', call)) : ''}<Dial answerOnBridge="true"><Client>${clientOf(order.agentId)}</Client></Dial>`,
      );
    case 'voicemail':
      return response(
        greetingOf(order.greeting) + say(voicemailPrompt, order.greeting.voice) + voicemailRecord(baseUrl),
      );
    case 'hangup':
      return response('<Hangup/>');
  }
}

/** The agent's softphone identity at Twilio: only letters and digits, as its mobile SDKs require. */
export function clientOf(agentId: string): string {
  return `agent${agentId.replaceAll('-', '')}`;
}

const waiting = `<Enqueue>${queueName}</Enqueue>`;

function recording(callback: string): string {
  return `<Start><Recording channels="dual" recordingStatusCallback="${xml(callback)}" recordingStatusCallbackEvent="completed"/></Start>`;
}

function voicemailRecord(baseUrl: string): string {
  const action = xml(hookUrl(baseUrl, 'voicemail'));
  const transcribed = xml(hookUrl(baseUrl, 'transcription'));
  // An empty recording triggers no action and continues with the next verb.
  return `<Record maxLength="${voicemailSeconds}" playBeep="true" finishOnKey="#" action="${action}" transcribe="true" transcribeCallback="${transcribed}"/><Hangup/>`;
}

function greetingOf(greeting: Greeting): string {
  const audio = greeting.audioUrl === null ? '' : `<Play>${xml(greeting.audioUrl)}</Play>`;
  return audio + (greeting.text === null ? '' : say(greeting.text, greeting.voice));
}

/** A call that speaks this text and ends. */
export function spokenTwiml({ body, language }: { body: string; language: string }): string {
  return response(`<Say language="${xml(language)}">${xml(body)}</Say><Hangup/>`);
}

function say(text: string, voice: string | null): string {
  return `<Say${voice === null ? '' : ` voice="${xml(voice)}"`}>${xml(text)}</Say>`;
}

function response(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function xml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
}
