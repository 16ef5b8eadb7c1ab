// A secret while it can be seen: copy it now, with the warning that it is not shown again.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { forgetOnce, onceHere } from './once.ts';

/** Draws nothing if there is none. */
export function SecretOnce(): JSX.Element | null {
  const once = onceHere();
  const heading = useRef<HTMLHeadingElement>(null);
  const secret = once?.secret;
  useEffect(() => {
    if (secret !== undefined) heading.current?.focus();
  }, [secret]);
  if (once === undefined) return null;
  return (
    <section class="card once" aria-labelledby="once-title">
      <h2 id="once-title" tabIndex={-1} ref={heading}>
        Copy the {once.what} of “{once.name}” now
      </h2>
      <Copyable text={once.secret} label={`the ${once.what}`} />
      <div class="row">
        <p class="once-warning">It is shown only now. If you lose it, you have to create a new one.</p>
        <Button onClick={forgetOnce}>I have copied it</Button>
      </div>
    </section>
  );
}
