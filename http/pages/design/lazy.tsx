// A component whose code is loaded when it is first shown. Once loaded it stays, so that going back to it draws at
// once.

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './feedback.tsx';

export type Load<Props> = () => Promise<ComponentType<Props>>;

/**
 * By their load: what is loaded by the same one is the same component, so that going from one page of a family to
 * another keeps what is there.
 */
const loaded = new Map<unknown, unknown>();

export function Lazy<Props extends object>({
  load,
  props,
}: {
  readonly load: Load<Props>;
  readonly props: Props;
}): JSX.Element {
  const [, setRound] = useState(0);
  const [failure, setFailure] = useState<unknown>(undefined);
  useEffect(() => {
    if (loaded.has(load)) return;
    setFailure(undefined);
    load().then(
      (component) => {
        loaded.set(load, component);
        setRound((round) => round + 1);
      },
      (error: unknown) => setFailure(error),
    );
  }, [load]);
  // Kept under its own load alone, so it takes that load's props.
  const Found = loaded.get(load) as ComponentType<Props> | undefined;
  if (Found !== undefined) return <Found {...props} />;
  // A service that was updated has other files by now: loading everything again brings them.
  if (failure !== undefined)
    return <Failure error={new Error('This page could not be loaded.')} retry={() => location.reload()} />;
  return <Loading />;
}
