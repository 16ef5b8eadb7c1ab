// What the service says to the widget, as far as the widget reads it. Fields that are not named here are ignored, as
// the contract asks of clients.

export interface Site {
  readonly name: string;
  readonly primaryColor: string;
  readonly launcherPosition: 'right' | 'left';
  readonly welcomeMessage: string;
}

export interface Visitor {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  /** By the service's clock; just now, when a session was opened. */
  readonly lastSeenAt: string;
}

export interface Conversation {
  readonly id: string;
  /** Spam looks open to who sent it. */
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
  readonly body: string;
  readonly attachments: readonly Attachment[];
  readonly readAt: string | null;
  readonly createdAt: string;
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

/** What opening a session answers, and what is noted of it. */
export interface Session {
  readonly visitor: Visitor;
  readonly visitorToken: string;
  readonly site: Site;
  readonly officeHoursOpen: boolean;
  /** When somebody is there again; null while it is open, or when that is not known. */
  readonly nextOpenAt: string | null;
  readonly takesTickets: boolean;
  readonly csatEnabled: boolean;
  readonly conversation: Conversation | null;
  /** How far this browser's clock was ahead of the service's. A session of before an update does not say. */
  readonly clockAheadMs?: number;
}

/** What a socket may be told. `seq` is on what is stored, and grows. */
export type Frame =
  | { readonly type: 'ready'; readonly seq: number }
  | { readonly type: 'resync'; readonly seq: number }
  | { readonly type: 'pong' }
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
      readonly data: { readonly senderType: 'agent' | 'visitor' };
    };
