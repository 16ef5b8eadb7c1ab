// Who may create a workspace on this server.

import { call } from '../api.ts';
import { useResource } from '../design/resource.ts';

type Registration = 'open' | 'invite' | 'off';

/** As the operator set it; undefined until the server has answered. */
export const useRegistration = (): Registration | undefined =>
  useResource((signal) => call<{ registration: Registration }>('GET', '/auth/registration', { signal }), []).value
    ?.registration;
