// The dialog of an action on a conversation. Loaded when the browser is idle, or when one is opened.

import type { JSX } from 'preact';
import type { Conversation } from '../../records.ts';
import { AssignDialog } from './assign-dialog.tsx';
import { BlockDialog, TagsDialog, TranscriptDialog } from './dialogs.tsx';
import { FollowersDialog } from './followers-dialog.tsx';
import { MergeDialog, UnmergeDialog } from './merge-dialog.tsx';
import { SnoozeDialog } from './snooze-dialog.tsx';

export interface ActionDialogProps {
  readonly asked:
    | 'assign'
    | 'department'
    | 'tags'
    | 'transcript'
    | 'block'
    | 'snooze'
    | 'merge'
    | 'unmerge'
    | 'followers';
  readonly conversation: Conversation;
  readonly onClose: () => void;
}

export function ActionDialog({ asked, ...props }: ActionDialogProps): JSX.Element {
  switch (asked) {
    case 'assign':
      return <AssignDialog {...props} to="anybody" />;
    case 'department':
      return <AssignDialog {...props} to="department" />;
    case 'tags':
      return <TagsDialog {...props} />;
    case 'transcript':
      return <TranscriptDialog {...props} />;
    case 'block':
      return <BlockDialog {...props} />;
    case 'snooze':
      return <SnoozeDialog {...props} />;
    case 'merge':
      return <MergeDialog {...props} />;
    case 'unmerge':
      return <UnmergeDialog {...props} />;
    case 'followers':
      return <FollowersDialog {...props} />;
  }
}
