// Prepares what customers and agents get from the knowledge base: an open help centre with an article that can be read,
// a file that can be ingested, and a language model that answers. Called by stages.ts.

import type { Known } from './requests.ts';
import type { World } from './world.ts';

const title = 'Parking at the museum';

export const knowledgeStages: Readonly<Record<string, (world: World) => Promise<Known>>> = {
  'help.home': async (world) => ({ params: { subdomain: (await opened(world)).subdomain } }),
  'help.search': async (world) => ({
    params: { subdomain: (await opened(world)).subdomain },
    query: { q: 'museum' },
  }),
  'help.suggest': async (world) => ({
    params: { subdomain: (await opened(world)).subdomain },
    query: { q: 'museum' },
  }),
  'help.sitemap': async (world) => ({ params: { subdomain: (await opened(world)).subdomain } }),
  'help.article': async (world) => {
    const { subdomain, slug } = await opened(world);
    return { params: { subdomain, slug } };
  },
  'help.vote': async (world) => {
    const { subdomain, slug } = await opened(world);
    return { params: { subdomain, slug }, body: { helpful: 'yes' } };
  },
  'help.preview': async (world) => {
    const { subdomain, articleId } = await opened(world);
    const { url } = await world.asAdmin('POST', `/kb/articles/${articleId}/preview`);
    return { params: { subdomain, token: new URL(url).pathname.split('/').at(-1) ?? '' } };
  },
  'widget.searchArticles': async (world) => {
    await opened(world);
    return { caller: 'visitor', query: { q: 'museum' } };
  },
  'widget.readArticle': async (world) => ({
    caller: 'visitor',
    params: { articleId: (await opened(world)).articleId },
  }),
  'widget.voteArticle': async (world) => ({
    caller: 'visitor',
    params: { articleId: (await opened(world)).articleId },
    body: { helpful: true },
  }),

  'kb.ingestFile': async (world) => {
    const file = { filename: 'parking.md', contentType: 'text/markdown', size: 64 };
    const { uploadUrl, publicUrl } = await world.asAdmin('POST', '/uploads/presigned', file);
    const { pathname, search } = new URL(uploadUrl);
    await fetch(`${world.service.url}${pathname}${search}`, {
      method: 'PUT',
      headers: { 'Content-Type': file.contentType },
      body: '# Parking\n\nYou park behind the museum.'.padEnd(file.size),
    });
    return { caller: 'admin', body: { url: publicUrl } };
  },

  'ai.testModel': async (world) => {
    await withModel(world);
    return { caller: 'admin' };
  },
  'ai.draft': async (world) => ({ caller: 'admin', body: { conversationId: await askedChat(world) } }),
  'ai.summarise': async (world) => ({ caller: 'admin', body: { conversationId: await askedChat(world) } }),
  'ai.rewrite': async (world) => {
    await withModel(world);
    return { caller: 'admin', body: { text: 'You can park behind the museum.', how: 'shorter' } };
  },
};

/** The help centre, which earlier requests may have closed, with a published article. */
async function opened(world: World): Promise<{ subdomain: string; slug: string; articleId: string }> {
  const { helpCentreUrl } = await world.asAdmin('PATCH', '/kb/settings', { helpCentre: true });
  const { articles } = await world.asAdmin('GET', '/kb/articles');
  const { id, slug } =
    articles.find((one: { title: string; status: string }) => one.title === title && one.status === 'published') ??
    (await world.asAdmin('POST', '/kb/articles', { title, body: 'You park behind it.', status: 'published' }));
  return { subdomain: new URL(helpCentreUrl).pathname.split('/').at(-1) ?? '', slug, articleId: id };
}

async function withModel(world: World): Promise<void> {
  await world.asAdmin('PUT', '/workspace/ai', { url: world.chatServer.url, model: 'small' });
}

async function askedChat(world: World): Promise<string> {
  await withModel(world);
  return (await world.service.chat(await world.admin(), 'Where can I park?')).id;
}
