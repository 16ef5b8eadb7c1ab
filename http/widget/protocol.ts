// The parts of the service's answers and frames that the widget reads. It ignores other fields, as clients must.

export interface Site {
  readonly name: string;
  readonly primaryColor: string;
  readonly launcherPosition: 'right' | 'left';
  readonly welcomeMessage: string;
  /** Said instead of the widget's own sentences; empty is none. Missing in a session of an earlier version, as are others. */
  readonly onlineMessage?: string;
  readonly awayMessage?: string;
  readonly closedMessage?: string;
  readonly theme?: 'auto' | 'light' | 'dark';
  readonly logoUrl?: string | null;
  readonly launcherSidePx?: number;
  readonly launcherBottomPx?: number;
  readonly hiddenOnPhones?: boolean;
}

/** Whether someone is there. */
export interface Availability {
  readonly availability: 'online' | 'away' | 'closed';
  /** When the business opens next; null while it is open, or if unknown. */
  readonly nextOpenAt: string | null;
}

export interface Visitor {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  /** By the service's clock: the time at which the session was opened. */
  readonly lastSeenAt: string;
}

export interface Conversation {
  readonly id: string;
  /** Spam is shown as open to its sender. */
  readonly status: 'open' | 'pending' | 'solved' | 'closed';
  readonly rating: number | null;
}

export interface Attachment {
  readonly url: string;
  readonly name: string | null;
  readonly size: number | null;
}

export interface Message {
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: 'visitor' | 'agent' | 'ai';
  readonly senderId?: string | null;
  readonly body: string;
  readonly attachments: readonly Attachment[];
  readonly readAt: string | null;
  readonly createdAt: string;
}

/** An agent, as customers know it. */
export interface Face {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
}

export interface QuickReply {
  readonly label: string;
  readonly action: 'start-chat' | 'dismiss' | 'navigate';
  readonly value?: string;
}

export interface Campaign {
  readonly id: string;
  readonly triggerRules: {
    readonly showAfterMs?: number;
    readonly exitIntent?: boolean;
    readonly scrollDepthPct?: number;
  };
  readonly content: {
    readonly body: string;
    readonly agentName?: string;
    readonly agentAvatarUrl?: string;
    readonly quickReplies?: readonly QuickReply[];
  };
}

/** The answer to opening a session, and what the widget adds to it. */
export interface Session {
  readonly visitor: Visitor;
  readonly visitorToken: string;
  readonly site: Site;
  readonly officeHoursOpen: boolean;
  readonly availability?: Availability['availability'];
  readonly nextOpenAt: string | null;
  /** How long the first answer usually takes; null if unknown. */
  readonly replyTimeSeconds?: number | null;
  readonly takesTickets: boolean;
  readonly csatEnabled: boolean;
  readonly hasArticles?: boolean;
  readonly conversation: Conversation | null;
  /** How far this browser's clock is ahead of the service's. Missing in a session stored by an earlier version. */
  readonly clockAheadMs?: number;
}

/** Frames of the socket. Stored events have a `seq`, which increases. */
export type Frame =
  | ({ readonly type: 'ready'; readonly seq: number } & Availability)
  | { readonly type: 'resync'; readonly seq: number }
  | { readonly type: 'pong' }
  | { readonly type: 'availability'; readonly data: Availability }
  | { readonly type: 'message.created'; readonly seq: number; readonly data: { readonly message: Message } }
  | {
      readonly type: 'message.read';
      readonly seq: number;
      readonly data: {
        readonly read: {
          readonly conversationId: string;
          readonly senderType: 'visitor' | 'agent';
          readonly readUpTo: string;
          readonly readAt: string;
        };
      };
    }
  | {
      readonly type: 'conversation.updated' | 'conversation.closed';
      readonly seq: number;
      readonly data: { readonly conversation: Conversation };
    }
  | {
      readonly type: 'typing';
      readonly conversationId: string;
      readonly data: { readonly senderType: 'agent' | 'visitor'; readonly senderId: string };
    };
