// The workspace itself: one row in its own file.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface WorkspaceSettings {
  readonly routing: { readonly mode: 'auto' | 'manual'; readonly maxOpenChatsPerAgent: number };
  readonly autoCloseDays: number;
  readonly csatEnabled: boolean;
  readonly defaultDepartmentId: string | null;
  /** Minutes without a socket after which an available agent is away; 0 is never. */
  readonly awayAfterMinutes: number;
  /** Minutes after which an answer in a chat that its customer has not seen is mailed; 0 is never. */
  readonly unseenMailMinutes: number;
  /** Whether answering an unassigned conversation assigns it. */
  readonly assignOnReply: boolean;
  /** Since when every agent must have a second factor; null if not required. */
  readonly secondFactorRequiredAt: string | null;
  /** The score from which a chunk of the knowledge base counts as an answer, 0 to 1. */
  readonly answerThreshold: number;
  /** The name of the embedding model that was chosen; null for the service's. */
  readonly embeddingModel: string | null;
  /** Why the last choice was taken back; null if it was not. */
  readonly embeddingProblem: string | null;
  /** Whether published articles are shown to everyone in the help centre. */
  readonly helpCentre: boolean;
  /** Where the help centre is, too, such as help.shop.example; null for none. */
  readonly helpHost: string | null;
  /** Of the help centre; null for those of the oldest site. */
  readonly helpLogoUrl: string | null;
  readonly helpColour: string | null;
}

/** At this score two answers in three are kept, and one question in five without an answer gets one. */
export const defaultAnswerThreshold = 0.15;

/** Defaults for workspaces from before these settings existed. */
const laterSettings: Pick<
  WorkspaceSettings,
  | 'awayAfterMinutes'
  | 'unseenMailMinutes'
  | 'assignOnReply'
  | 'secondFactorRequiredAt'
  | 'answerThreshold'
  | 'embeddingModel'
  | 'embeddingProblem'
  | 'helpCentre'
  | 'helpHost'
  | 'helpLogoUrl'
  | 'helpColour'
> = {
  awayAfterMinutes: 5,
  unseenMailMinutes: 3,
  assignOnReply: true,
  secondFactorRequiredAt: null,
  answerThreshold: defaultAnswerThreshold,
  embeddingModel: null,
  embeddingProblem: null,
  helpCentre: false,
  helpHost: null,
  helpLogoUrl: null,
  helpColour: null,
};

export interface WorkspaceRecord {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly locale: string;
  readonly subdomain: string;
  readonly plan: string;
  readonly settings: WorkspaceSettings;
  readonly lastTicketNumber: number;
  readonly createdAt: string;
}

type Row = Omit<WorkspaceRecord, 'settings'> & { settings: string };

export function findWorkspace(db: Database): WorkspaceRecord | undefined {
  const row = db.get<Row>('SELECT * FROM workspace');
  return row && { ...row, settings: { ...laterSettings, ...fromJson<WorkspaceSettings>(row.settings) } };
}

export function insertWorkspace(db: Database, workspace: WorkspaceRecord): void {
  db.run(
    `INSERT INTO workspace (id, name, timezone, locale, subdomain, plan, settings, lastTicketNumber, createdAt)
     VALUES (@id, @name, @timezone, @locale, @subdomain, @plan, @settings, @lastTicketNumber, @createdAt)`,
    { ...workspace, settings: toJson(workspace.settings) },
  );
}

export function updateWorkspace(db: Database, workspace: WorkspaceRecord): void {
  db.run(
    'UPDATE workspace SET name = @name, timezone = @timezone, locale = @locale, plan = @plan, settings = @settings, lastTicketNumber = @lastTicketNumber WHERE id = @id',
    {
      ...workspace,
      settings: toJson(workspace.settings),
    },
  );
}
