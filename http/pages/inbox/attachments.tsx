// The files of a message: images inline, audio with a player, others as links with their size. Files stored elsewhere
// are not loaded, only linked. Programs are marked.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ownAddress } from '../addresses.ts';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import type { Attachment } from '../records.ts';
import { sizeOf } from '../times.ts';

const pictures = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;
/** The suffix of files that the service stores under a name that does not run. */
const programs = /\.blocked$/;
const sounds = /\.(?:mp3|wav|ogg|oga|opus|m4a|aac|weba)$/i;

export function Attachments({ attachments }: { readonly attachments: readonly Attachment[] }): JSX.Element | null {
  if (attachments.length === 0) return null;
  return (
    <ul class="inbox-files" aria-label="Attachments">
      {attachments.map((attachment, index) => (
        <li key={index}>
          <File attachment={attachment} />
        </li>
      ))}
    </ul>
  );
}

function File({ attachment }: { readonly attachment: Attachment }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const address = ownAddress(attachment.url);
  const isOurs = address.startsWith('/storage/');
  const name = attachment.name ?? nameIn(address);
  const path = address.split('?')[0] ?? '';
  if (isOurs && pictures.test(path) && !isBroken) {
    return (
      <>
        <button type="button" class="inbox-picture" aria-label={`Show ${name}`} onClick={() => setOpen(true)}>
          <img src={address} alt={name} loading="lazy" onError={() => setBroken(true)} />
        </button>
        {isOpen && (
          <Dialog title={name} wide onClose={() => setOpen(false)}>
            <div class="inbox-lightbox">
              <img src={address} alt={name} />
              <FileLink address={address} name={name} size={attachment.size} />
            </div>
          </Dialog>
        )}
      </>
    );
  }
  return (
    <div class="stack">
      {isOurs && sounds.test(path) && <audio controls preload="none" src={address} aria-label={name} />}
      <FileLink address={address} name={name} size={attachment.size} />
      {programs.test(path) && (
        <p class="inbox-danger">
          <Icon name="warning" size={16} /> This file is a program. Run it only if you trust the sender. It downloads
          under a name that does not run.
        </p>
      )}
    </div>
  );
}

function FileLink({
  address,
  name,
  size,
}: {
  readonly address: string;
  readonly name: string;
  readonly size: number | null;
}): JSX.Element {
  const isWeb = address.startsWith('/storage/') || /^https?:\/\//i.test(address);
  const text = (
    <>
      <Icon name="clip" size={16} />
      <span class="truncate">{name}</span>
      {size !== null && <span class="soft">{sizeOf(size)}</span>}
    </>
  );
  return isWeb ? (
    <a class="inbox-file" href={address} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </a>
  ) : (
    <span class="inbox-file">{text}</span>
  );
}

function nameIn(address: string): string {
  const last = (address.split(/[?#]/)[0] ?? '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || 'File';
  } catch {
    return last;
  }
}
