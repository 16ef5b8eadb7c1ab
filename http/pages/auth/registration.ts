// Who may create a workspace on this server.

import { call } from '../api.ts';
import { useResource } from '../design/resource.ts';

type Registration = 'open' | 'invite' | 'off';

const read = (signal?: AbortSignal): Promise<{ registration: Registration; hasWorkspaces: boolean }> =>
  call('GET', '/auth/registration', signal === undefined ? {} : { signal });

/** As the operator set it; undefined until the server has answered. */
export const useRegistration = (): Registration | undefined => useResource(read, []).value?.registration;

/** The page for someone who is not signed in: on an empty server, making its first workspace. */
export async function firstPage(): Promise<'/register' | '/sign-in'> {
  try {
    return (await read()).hasWorkspaces ? '/sign-in' : '/register';
  } catch {
    // The sign-in page reports the failure when it is used.
    return '/sign-in';
  }
}
