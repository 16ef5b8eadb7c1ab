// A picture that is chosen from a file, uploaded and removed. Whoever uses it keeps its address.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ownAddress } from './addresses.ts';
import { call } from './api.ts';
import { Avatar } from './design/avatar.tsx';
import { Button } from './design/button.tsx';
import { notifyFailure } from './notices.ts';

/** The service's limit. */
const maxBytes = 2 * 1024 * 1024;

interface PictureFieldProps {
  /** Read aloud. */
  readonly label: string;
  /** Whose it is: its initials are shown without a picture. */
  readonly name: string;
  readonly url: string | null;
  readonly kind?: 'picture' | 'logo';
  /** Rejects if it could not be kept. */
  readonly onUrl: (url: string | null) => Promise<void> | void;
}

export function PictureField({ label, name, url, kind = 'picture', onUrl }: PictureFieldProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  const keep = async (made: () => Promise<string | null>): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      await onUrl(await made());
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const choose = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > maxBytes) setProblem('A picture can have up to 2 MB. Choose a smaller one.');
    else void keep(() => upload(file, kind));
  };

  return (
    <div class="row">
      <Avatar name={name} url={url} size={48} />
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        aria-label={label}
        hidden
        onChange={({ currentTarget }) => {
          choose(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
      <Button busy={busy} onClick={() => input.current?.click()}>
        {url === null ? 'Choose a picture' : 'Change the picture'}
      </Button>
      {url !== null && (
        <Button busy={busy} onClick={() => void keep(() => Promise.resolve(null))}>
          Remove it
        </Button>
      )}
      <p class="error" role="alert">
        {problem}
      </p>
    </div>
  );
}

async function upload(file: File, kind: 'picture' | 'logo'): Promise<string> {
  const { uploadUrl, publicUrl } = await call<{ uploadUrl: string; publicUrl: string }>('POST', '/uploads/presigned', {
    body: { filename: file.name, contentType: file.type, size: file.size, kind },
  });
  const reply = await fetch(ownAddress(uploadUrl), {
    method: 'PUT',
    headers: { 'Content-Type': file.type },
    body: file,
  });
  if (!reply.ok) throw new Error('The picture could not be uploaded. Try again.');
  return publicUrl;
}
