// Calls the service's API by its address, and a client for tests that start the service as a process.

import { TestSocket } from './socket.ts';

export interface Answer<Body = any> {
  readonly status: number;
  /** Parsed JSON, the text of anything else, or null. Tests name the type they expect. */
  readonly body: Body;
  readonly headers: Headers;
}

export interface CallOptions {
  /** Sent as JSON, or unchanged if it is a text. */
  readonly body?: unknown;
  readonly token?: string | undefined;
  /** Added to the headers of every call; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Ends the call, which rejects then. */
  readonly signal?: AbortSignal;
}

/** The path is below /api/v1, unless it begins with two slashes. */
export async function callApi<Body = any>(
  base: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<Body>> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.token !== undefined) headers['Authorization'] = `Bearer ${options.token}`;
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  }
  const body =
    options.body === undefined ? null : typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  const response = await fetch(`${base}${path.startsWith('//') ? path.slice(1) : `/api/v1${path}`}`, {
    method,
    headers,
    body,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    body: text === '' ? null : isJson ? JSON.parse(text) : text,
    headers: response.headers,
  };
}

export interface Workspace {
  readonly token: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly embedId: string;
}

export const password = 'correct horse battery staple';

export class Api {
  /** The present address; a restarted process has another port. */
  url: string;

  constructor(url: string) {
    this.url = url;
  }

  get = (path: string, token: string): Promise<Answer> => callApi(this.url, 'GET', path, { token });
  post = (path: string, body: unknown, token?: string): Promise<Answer> =>
    callApi(this.url, 'POST', path, { body, token });

  patch = (path: string, body: unknown, token: string): Promise<Answer> =>
    callApi(this.url, 'PATCH', path, { body, token });

  /** A new workspace. Its owner is away, so that no chat is routed to it, and answering assigns nothing. */
  async workspace(name: string): Promise<Workspace> {
    const { body } = await this.post('/auth/register', {
      email: `owner@${name}.example`,
      password,
      workspaceName: name,
      siteUrl: `https://${name}.example`,
    });
    const { token, agent } = body;
    await this.post('/me/status', { status: 'away' }, token);
    await this.patch(`/workspaces/${agent.workspaceId}`, { assignOnReply: false }, token);
    const { sites } = (await this.get('/sites', token)).body;
    return { token, agentId: agent.id, workspaceId: agent.workspaceId, embedId: sites[0].embedId };
  }

  /** A chat with one message of its customer, the given text. */
  async chat(
    embedId: string,
    text: string,
  ): Promise<{ conversationId: string; customerToken: string; message: { id: string; createdAt: string } }> {
    const session = await this.post('/widget/sessions', { siteId: embedId, url: 'https://shop.example/' });
    const customerToken = session.body.visitorToken;
    const { body } = await this.post('/widget/conversations', { body: text }, customerToken);
    return { conversationId: body.conversation.id, customerToken, message: body.message };
  }

  /** Every message of a conversation, oldest first. */
  async messages(
    conversationId: string,
    token: string,
  ): Promise<{ id: string; body: string; senderType: string; createdAt: string }[]> {
    const all = [];
    for (let before: string | null = ''; before !== null; ) {
      const { body } = await this.get(
        `/conversations/${conversationId}/messages?limit=200${before === '' ? '' : `&before=${before}`}`,
        token,
      );
      all.unshift(...body.messages);
      before = body.nextCursor;
    }
    return all;
  }

  agentSocket(token: string, options: { since?: number } = {}): Promise<TestSocket> {
    return TestSocket.open(`${this.url.replace('http', 'ws')}/agent`, token, options);
  }
}
