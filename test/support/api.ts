// A client of the service by its address alone, for tests that start it as a process.

import { TestSocket } from './socket.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: any;
}

export interface Workspace {
  readonly token: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly embedId: string;
}

export const password = 'correct horse battery staple';

export class Api {
  /** Where it is now; a process that was started again has another port. */
  url: string;

  constructor(url: string) {
    this.url = url;
  }

  async call(method: string, path: string, options: { body?: unknown; token?: string } = {}): Promise<ApiAnswer> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (options.body !== undefined) headers['Content-Type'] = 'application/json';
    if (options.token !== undefined) headers['Authorization'] = `Bearer ${options.token}`;
    const response = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: options.body === undefined ? null : JSON.stringify(options.body) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  get = (path: string, token: string): Promise<ApiAnswer> => this.call('GET', path, { token });
  post = (path: string, body: unknown, token?: string): Promise<ApiAnswer> => this.call('POST', path, { body, ...(token === undefined ? {} : { token }) });

  /** A new workspace; its owner is away, so that no chat is routed. */
  async workspace(name: string): Promise<Workspace> {
    const { body } = await this.post('/auth/register', { email: `owner@${name}.example`, password, workspaceName: name, siteUrl: `https://${name}.example` });
    const { token, agent } = body;
    await this.post('/me/status', { status: 'away' }, token);
    const { sites } = (await this.get('/sites', token)).body;
    return { token, agentId: agent.id, workspaceId: agent.workspaceId, embedId: sites[0].embedId };
  }

  /** A chat with one message of its customer, whose body is the text. */
  async chat(embedId: string, text: string): Promise<{ conversationId: string; customerToken: string; message: { id: string; createdAt: string } }> {
    const session = await this.post('/widget/sessions', { siteId: embedId, url: 'https://shop.example/' });
    const customerToken = session.body.visitorToken;
    const { body } = await this.post('/widget/conversations', { body: text }, customerToken);
    return { conversationId: body.conversation.id, customerToken, message: body.message };
  }

  /** Every message of a conversation, oldest first. */
  async messages(conversationId: string, token: string): Promise<{ id: string; body: string; senderType: string; createdAt: string }[]> {
    const all = [];
    for (let before: string | null = ''; before !== null; ) {
      const { body } = await this.get(`/conversations/${conversationId}/messages?limit=200${before === '' ? '' : `&before=${before}`}`, token);
      all.unshift(...body.messages);
      before = body.nextCursor;
    }
    return all;
  }

  agentSocket(token: string, options: { since?: number } = {}): Promise<TestSocket> {
    return TestSocket.open(`${this.url.replace('http', 'ws')}/agent`, token, options);
  }
}
