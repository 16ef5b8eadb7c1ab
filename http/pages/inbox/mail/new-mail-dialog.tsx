// A new mail, over whatever page it was asked for on.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Loading } from '../../design/feedback.tsx';
import { type NewMail, newMail } from '../../new-mail.ts';
import type { Draft } from '../../records.ts';
import type { Editor } from './editor.ts';
import { MailComposer } from './mail-composer.tsx';
import { asWritten, keptLocally, readHabits, startWritten, takenBack, type Written } from './mail-drafts.ts';
import { useMailWriting } from './use-mail-writing.ts';

/** No ticket exists yet. */
const noTicket = { channel: 'ticket', visitorId: null, subject: null } as const;

export function NewMailDialog({ asked }: { readonly asked: NewMail }): JSX.Element {
  const close = (): void => {
    newMail.value = undefined;
  };
  const [begun, setBegun] = useState<Written | undefined>(undefined);
  useEffect(() => {
    readHabits().catch(() => {
      // The defaults hold, and the service refuses what is not allowed.
    });
    beginningOf(asked).then(setBegun, () => setBegun(startWritten(null)));
  }, [asked]);
  return (
    <Dialog title="New email" wide onClose={close}>
      {begun === undefined ? <Loading /> : <Begun begun={begun} onDone={close} />}
    </Dialog>
  );
}

/** One that was taken back, one to this address, or the one that was being written. */
async function beginningOf({ draftId, to, subject }: NewMail): Promise<Written> {
  const known = takenBack.peek();
  takenBack.value = undefined;
  if (draftId !== undefined)
    return asWritten(known?.id === draftId ? known : await call<Draft>('GET', `/drafts/${draftId}`));
  if (to !== undefined) return startWritten(null, { to: [to], subject: subject ?? null });
  return keptLocally('new') ?? startWritten(null);
}

function Begun({ begun, onDone }: { readonly begun: Written; readonly onDone: () => void }): JSX.Element {
  const handle = useRef<Editor | null>(null);
  const writing = useMailWriting('new', begun, {
    onReplaced: ({ mail }) => handle.current?.write(mail.body),
    onSent: onDone,
  });
  return <MailComposer writing={writing} handle={handle} conversation={noTicket} people={undefined} autofocus />;
}
