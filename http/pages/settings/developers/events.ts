// The events that a webhook can subscribe to, by subject, with labels.

export interface EventGroup {
  readonly title: string;
  readonly events: readonly { readonly type: string; readonly label: string }[];
}

export const eventGroups: readonly EventGroup[] = [
  {
    title: 'Conversations',
    events: [
      { type: 'conversation.created', label: 'A conversation started' },
      { type: 'conversation.updated', label: 'A conversation changed' },
      { type: 'conversation.closed', label: 'A solved conversation closed automatically' },
    ],
  },
  {
    title: 'Messages and notes',
    events: [
      { type: 'message.created', label: 'A message was sent' },
      { type: 'message.updated', label: 'An email was sent or failed' },
      { type: 'message.moved', label: 'Messages moved to another ticket' },
      { type: 'message.read', label: 'Messages were read' },
      { type: 'note.created', label: 'A note was added' },
      { type: 'note.updated', label: 'A note was changed' },
      { type: 'note.deleted', label: 'A note was deleted' },
    ],
  },
  {
    title: 'Handshake',
    events: [
      { type: 'assignment.pending', label: 'A conversation was offered to an agent' },
      { type: 'assignment.accepted', label: 'The offer was accepted' },
      { type: 'assignment.declined', label: 'The offer was declined' },
      { type: 'assignment.cancelled', label: 'The offer was withdrawn' },
      { type: 'assignment.expired', label: 'The offer expired' },
      { type: 'assignment.given', label: 'A conversation was assigned without an offer' },
    ],
  },
  {
    title: 'Calls',
    events: [
      { type: 'call.ringing', label: 'A call is ringing' },
      { type: 'call.answered', label: 'A call was answered' },
      { type: 'call.on_hold', label: 'A caller was put on hold' },
      { type: 'call.resumed', label: 'A caller was taken off hold' },
      { type: 'call.transferred', label: 'A call was transferred' },
      { type: 'call.ended', label: 'A call ended' },
      { type: 'call.voicemail_left', label: 'A voicemail was left' },
    ],
  },
  {
    title: 'Visitors and goals',
    events: [
      { type: 'visitor.online', label: 'A visitor opened a page' },
      { type: 'visitor.offline', label: 'A visitor left' },
      { type: 'visitor.page_viewed', label: 'A visitor went to another page' },
      { type: 'visitor.updated', label: 'A visitor was identified, blocked or unblocked' },
      { type: 'goal.completed', label: 'A goal was completed' },
    ],
  },
  {
    title: 'Your business',
    events: [
      { type: 'agent.updated', label: 'An agent joined, changed or left' },
      { type: 'department.created', label: 'A department was added' },
      { type: 'department.updated', label: 'A department changed' },
      { type: 'department.deleted', label: 'A department was deleted' },
      { type: 'workspace.updated', label: 'The workspace itself changed' },
      { type: 'settings.updated', label: 'Settings changed' },
      { type: 'site.created', label: 'A site was added' },
      { type: 'site.updated', label: 'A site changed' },
      { type: 'saved_reply.created', label: 'A saved reply was added' },
      { type: 'saved_reply.updated', label: 'A saved reply was changed' },
      { type: 'saved_reply.deleted', label: 'A saved reply was deleted' },
      { type: 'view.created', label: 'A view of the team was added' },
      { type: 'view.updated', label: 'A view of the team was changed' },
      { type: 'view.deleted', label: 'A view of the team was deleted' },
      { type: 'kb.job.updated', label: 'A crawl progressed or ended' },
    ],
  },
];

const all = eventGroups.flatMap(({ events }) => events);

export function eventLabel(type: string): string {
  return all.find((one) => one.type === type)?.label ?? type;
}

/** "All events", "A message was sent", "3 kinds of events" */
export function eventsInWords(types: readonly string[]): string {
  if (types.includes('*')) return 'All events';
  const [first] = types;
  return types.length === 1 && first !== undefined ? eventLabel(first) : `${types.length} kinds of events`;
}
