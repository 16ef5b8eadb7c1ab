// Whether the agent may choose the workspace's plan. Set by the session, so that nothing in this folder depends on it.

import { signal } from '@preact/signals';

export const mayChoosePlan = signal(false);
