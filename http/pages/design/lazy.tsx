// A component whose code loads when it is first shown. It stays loaded, so that a later visit draws immediately.

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './feedback.tsx';

export type Load<Props> = () => Promise<ComponentType<Props>>;

/** By load function: pages that share one are the same component, so going from one to another keeps its state. */
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
  // Stored under its own load function, so it accepts that function's props.
  const Found = loaded.get(load) as ComponentType<Props> | undefined;
  if (Found !== undefined) return <Found {...props} />;
  // After an update of the service its files have new names. Reloading the page loads them.
  if (failure !== undefined)
    return <Failure error={new Error('This page could not be loaded.')} retry={() => location.reload()} />;
  return <Loading />;
}
