// Who answers: the names and pictures of agents. Read when an agent is met whom the widget does not know yet, once per
// agent and page. Until then, and without them, an agent is "Support".

import type { Api } from './api.ts';
import { h, webAddress } from './dom.ts';
import { detached } from './guard.ts';
import type { Face } from './protocol.ts';

export class Faces {
  readonly #api: Api;
  readonly #onChange: () => void;
  readonly #known = new Map<string, Face | undefined>();

  constructor(api: Api, onChange: () => void) {
    this.#api = api;
    this.#onChange = onChange;
  }

  /** Undefined until it is read. */
  of(agentId: string | null | undefined, conversationId: string): Face | undefined {
    if (typeof agentId !== 'string') return undefined;
    if (!this.#known.has(agentId)) {
      this.#known.set(agentId, undefined);
      detached(this.#read(conversationId));
    }
    return this.#known.get(agentId);
  }

  async #read(conversationId: string): Promise<void> {
    const { agents } = await this.#api.call<{ agents: readonly Face[] }>(
      'GET',
      `conversations/${conversationId}/agents`,
    );
    for (const face of agents) this.#known.set(face.id, face);
    this.#onChange();
  }
}

/** Undefined without a picture that may be shown. A picture that the page's policy blocks is removed. */
export function pictureOf(face: Pick<Face, 'avatarUrl'> | undefined): HTMLElement | undefined {
  const src = face?.avatarUrl == null ? undefined : webAddress(face.avatarUrl);
  if (src === undefined) return undefined;
  const image = h('img', { class: 'face', src, alt: '' });
  image.addEventListener('error', () => image.remove());
  return image;
}
