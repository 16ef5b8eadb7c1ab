// The source of a received mail, with its headers, as a file. For admins.

import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import type { Message, OriginalMail } from '../../records.ts';
import { saveFile } from '../../save-file.ts';
import { sizeOf } from '../../times.ts';

interface MailSourceProps {
  readonly message: Message;
  readonly mail: OriginalMail;
}

export function MailSource({ message, mail }: MailSourceProps): JSX.Element | null {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const sizeId = useId();
  const { source, subject } = mail;
  if (source === null) return <NoSource mail={mail} />;
  const download = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const path = `/conversations/${message.conversationId}/messages/${message.id}/source`;
      saveFile(await call<Blob>('GET', path, { asFile: true }), `${subject.trim() || 'email'}.eml`);
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <div class="row">
        <Button small icon="download" busy={busy} aria-describedby={sizeId} onClick={() => void download()}>
          Download source
        </Button>
        <span id={sizeId} class="soft">
          {source.isWhole ? sizeOf(source.size) : `The first 256 KB of ${sizeOf(source.size)}`}
        </span>
      </div>
      <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
    </div>
  );
}

/** Only mail that came by itself has been authenticated. Where that came before sources were kept, there is nothing to say. */
function NoSource({ mail }: Pick<MailSourceProps, 'mail'>): JSX.Element | null {
  if (mail.authentication !== null) return null;
  return (
    <p class="soft">
      There is no source to download: this email came through a mail provider’s webhook or an import, which keep only
      its text and files.
    </p>
  );
}
