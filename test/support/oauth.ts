// An app in an OAuth flow: registers, sends an agent to the consent page, submits it as the agent would, gets tokens.

import { createHash } from 'node:crypto';
import { type Person, password, type Service } from './service.ts';

export interface App {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly workspaceId: string;
}

/** RFC 7636, appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const redirectUri = 'https://app.example/callback?kind=x';

export const challengeOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

export async function registerApp(service: Service, owner: Person, fields: object = {}): Promise<App> {
  const { body } = await service.post(
    '/oauth-apps',
    { name: 'Reports', redirectUris: [redirectUri], scopes: ['conversations:read', 'agents:read'], ...fields },
    owner.token,
  );
  return { id: body.id, clientId: body.clientId, clientSecret: body.clientSecret, redirectUri };
}

export interface Went {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The address that the browser is redirected to. */
  readonly location: URL | undefined;
  readonly answer: Record<string, string>;
}

type Fields = Readonly<Record<string, string | undefined>>;

function formOf(fields: Fields): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]])),
  );
}

async function wentOf(response: Response): Promise<Went> {
  const location = response.headers.get('location');
  const url = location === null ? undefined : new URL(location);
  return {
    status: response.status,
    headers: response.headers,
    text: await response.text(),
    location: url,
    answer: Object.fromEntries(url?.searchParams ?? []),
  };
}

/** The app's request; an undefined field is left out. */
export function request(app: Pick<App, 'clientId'>, fields: Fields = {}): Fields {
  return {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: redirectUri,
    scope: 'conversations:read',
    state: 'a state & more',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...fields,
  };
}

export async function authorize(service: Service, fields: Fields): Promise<Went> {
  return wentOf(await fetch(`${service.url}/oauth/authorize?${formOf(fields)}`, { redirect: 'manual' }));
}

export async function decide(service: Service, fields: Fields): Promise<Went> {
  return wentOf(
    await fetch(`${service.url}/oauth/authorize`, { method: 'POST', body: formOf(fields), redirect: 'manual' }),
  );
}

/** The code that the app gets when this agent consents. */
export async function consentOf(service: Service, app: App, agent: Person, fields: Fields = {}): Promise<string> {
  service.clock.advance(12_001);
  const { answer } = await decide(service, {
    ...request(app, fields),
    email: agent.email,
    password,
    decision: 'allow',
  });
  return answer['code'] ?? '';
}

export async function postForm(
  service: Service,
  path: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(`${service.url}${path}`, { method: 'POST', body: formOf(fields), headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

export function exchange(service: Service, app: App, code: string, fields: Fields = {}) {
  const { clientId, clientSecret } = app;
  return postForm(service, '/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    client_secret: clientSecret ?? undefined,
    code_verifier: verifier,
    ...fields,
  });
}

export function refresh(service: Service, app: App, refreshToken: string, fields: Fields = {}) {
  const { clientId, clientSecret } = app;
  return postForm(service, '/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    client_secret: clientSecret ?? undefined,
    ...fields,
  });
}

export async function tokensOf(service: Service, app: App, agent: Person, fields: Fields = {}): Promise<Tokens> {
  return (await exchange(service, app, await consentOf(service, app, agent, fields))).body;
}
