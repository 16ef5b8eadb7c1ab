// The files of an unsent message: progress, and buttons to cancel, retry and remove.

import type { JSX } from 'preact';
import { Button, IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { sizeOf } from '../times.ts';
import type { ComposedFiles } from './composed-files.ts';

export function UploadList({ uploads }: { readonly uploads: ComposedFiles }): JSX.Element | null {
  if (uploads.all.value.length === 0) return null;
  return (
    <ul class="inbox-uploads" aria-label="Files">
      {uploads.all.value.map(({ id, name, size, progress, problem, isFinal, file, picture }) => (
        <li key={id} class={problem === undefined ? '' : 'bad'}>
          {picture === undefined ? (
            <Icon name="clip" size={16} />
          ) : (
            <img src={picture} alt="" width={40} height={40} onError={() => uploads.dropPicture(id)} />
          )}
          <span class="truncate">{name}</span>
          {problem === undefined ? (
            <>
              <span class="soft">{sizeOf(size)}</span>
              {file === undefined && <progress max={1} value={progress} aria-label={`Uploading ${name}`} />}
            </>
          ) : (
            <>
              <span role="alert">{problem}</span>
              {isFinal !== true && (
                <Button small onClick={() => uploads.retry(id)}>
                  Try again
                </Button>
              )}
            </>
          )}
          <IconButton
            small
            icon="cross"
            label={file === undefined && problem === undefined ? `Stop uploading ${name}` : `Remove ${name}`}
            onClick={() => uploads.remove(id)}
          />
        </li>
      ))}
    </ul>
  );
}
