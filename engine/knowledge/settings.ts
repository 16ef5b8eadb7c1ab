// Settings of the knowledge base: the score from which a chunk counts as an answer, the help centre, and the embedding
// model.

import { findKbArticle } from '../../store/knowledge/articles.ts';
import { findKbBase } from '../../store/knowledge/chunks.ts';
import { countEmbeddedBy } from '../../store/knowledge/documents.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { hasFeature } from '../workspace/entitlements.ts';
import { putWorkspace, theWorkspace } from '../workspace/workspace.ts';
import { requestEmbedding } from './knowledge.ts';

export interface KbSettings {
  /** The score from which a chunk counts as an answer, 0 to 1. */
  readonly threshold: number;
  /** Whether published articles are shown to everyone. */
  readonly helpCentre: boolean;
  readonly helpCentreUrl: string;
  /** The owner's host that shows the help centre, too; null for none. */
  readonly helpHost: string | null;
  /** The text of the TXT record `_switchboard.{host}`, by which a host's owner says whose help centre it shows. */
  readonly helpHostProof: string;
  /** Of the help centre; null for those of the oldest site. */
  readonly helpLogoUrl: string | null;
  readonly helpColour: string | null;
}

/** What an admin may change. */
export type KbChanges = {
  readonly [Field in 'threshold' | 'helpCentre' | 'helpHost' | 'helpLogoUrl' | 'helpColour']?:
    | KbSettings[Field]
    | undefined;
};

export function kbSettings(view: Pick<View, 'state' | 'settings'>): KbSettings {
  const { settings, subdomain } = theWorkspace(view);
  const { answerThreshold, helpCentre, helpHost, helpLogoUrl, helpColour } = settings;
  return {
    threshold: answerThreshold,
    helpCentre,
    helpCentreUrl: helpCentreUrl(view),
    helpHost,
    helpHostProof: `switchboard-help=${subdomain}`,
    helpLogoUrl,
    helpColour,
  };
}

/** Whether anyone may read published articles. */
export function isHelpCentreOpen(view: Pick<View, 'state'>): boolean {
  return theWorkspace(view).settings.helpCentre && hasFeature(view, 'knowledge_base');
}

/** An article's page in the help centre, or a section of it; null if it has none. */
export function articleUrl(
  view: Pick<View, 'db' | 'state' | 'settings'>,
  articleId: string,
  anchor: string | null = null,
): string | null {
  const article = isHelpCentreOpen(view) ? findKbArticle(view.db, articleId) : undefined;
  if (article?.status !== 'published') return null;
  const section = anchor === null ? '' : `#${encodeURIComponent(anchor)}`;
  return `${helpCentreUrl(view)}/${pathOf(article)}${section}`;
}

/** Below the help centre. */
export function pathOf({ slug, language }: { readonly slug: string; readonly language: string | null }): string {
  return `${encodeURIComponent(slug)}${language === null ? '' : `?lang=${encodeURIComponent(language)}`}`;
}

/** At the owner's host, if it has one. */
export function helpCentreUrl(view: Pick<View, 'state' | 'settings'>): string {
  const { baseUrl } = view.settings;
  const { settings, subdomain } = theWorkspace(view);
  const { helpHost } = settings;
  if (helpHost === null) return `${baseUrl}/help/${subdomain}`;
  const url = new URL(baseUrl);
  url.hostname = helpHost;
  return url.origin;
}

/** Refuses admin_required. */
export const changeKbSettings = command('kb.changeSettings', (ctx, changes: KbChanges): KbSettings => {
  requireAdmin(ctx);
  const before = kbSettings(ctx);
  const workspace = theWorkspace(ctx);
  const or = <Value>(wanted: Value | undefined, present: Value): Value => (wanted === undefined ? present : wanted);
  const settings = {
    ...workspace.settings,
    answerThreshold: changes.threshold ?? before.threshold,
    helpCentre: changes.helpCentre ?? before.helpCentre,
    helpHost: or(changes.helpHost, before.helpHost),
    helpLogoUrl: or(changes.helpLogoUrl, before.helpLogoUrl),
    helpColour: or(changes.helpColour, before.helpColour),
  };
  putWorkspace(ctx, { ...workspace, settings });
  const after = kbSettings(ctx);
  auditChange(ctx, {
    action: 'workspace.updated',
    targetKind: 'workspace',
    targetId: ctx.workspaceId,
    before: { knowledge: before },
    after: { knowledge: after },
  });
  return after;
});

/** The host is another workspace's now. */
export const forgetHelpHost = command('kb.forgetHelpHost', (ctx, { host }: { host: string }): void => {
  const workspace = theWorkspace(ctx);
  if (workspace.settings.helpHost === host)
    putWorkspace(ctx, { ...workspace, settings: { ...workspace.settings, helpHost: null } });
});

/** Which model searches now, and how far the change to another one is. */
export interface ModelChange {
  /** Of the vectors that are searched; undefined before the first document. */
  readonly searched: string | undefined;
  /** The name of the chosen model; null for the service's. */
  readonly chosen: string | null;
  readonly problem: string | null;
  readonly documents: number;
  /** By the model that `wanted` names. */
  readonly embedded: number;
}

export function modelChange(view: Pick<View, 'state' | 'db'>, wanted: string): ModelChange {
  const { embeddingModel, embeddingProblem } = theWorkspace(view).settings;
  const { total, embedded } = countEmbeddedBy(view.db, wanted);
  return {
    searched: findKbBase(view.db)?.model,
    chosen: embeddingModel,
    problem: embeddingProblem,
    documents: total,
    embedded,
  };
}

/** Everything is embedded again in the background; until then the former vectors are searched. Refuses admin_required. */
export const chooseKbModel = command('kb.chooseKbModel', (ctx, { name }: { name: string }): void => {
  requireAdmin(ctx);
  const workspace = theWorkspace(ctx);
  const settings = { ...workspace.settings, embeddingModel: name, embeddingProblem: null };
  putWorkspace(ctx, { ...workspace, settings });
  auditChange(ctx, {
    action: 'workspace.updated',
    targetKind: 'workspace',
    targetId: ctx.workspaceId,
    before: { knowledge: { model: workspace.settings.embeddingModel } },
    after: { knowledge: { model: name } },
  });
  requestEmbedding(ctx);
});

/** The chosen model could not embed the documents: the one that is searched stays. */
export const giveUpModel = command(
  'kb.giveUpModel',
  (ctx, { name, searched }: { name: string; searched: string | null }): void => {
    const workspace = theWorkspace(ctx);
    if (workspace.settings.embeddingModel !== name) return;
    const settings = {
      ...workspace.settings,
      embeddingModel: searched,
      embeddingProblem: `${name} could not embed the documents, so the former model stays in use.`,
    };
    putWorkspace(ctx, { ...workspace, settings });
  },
);
