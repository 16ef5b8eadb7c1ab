// A component whose code loads when it is first shown. It stays loaded, so that a later visit draws immediately.

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { notifyFailure } from '../notices.ts';
import { Failure, Loading } from './feedback.tsx';
import { useLatest } from './steady.ts';

export type Load<Props> = () => Promise<ComponentType<Props>>;

const idleMs = 1500;
/** By load function: pages that share one are the same component, so going from one to another keeps its state. */
const loaded = new Map<unknown, unknown>();

interface LazyProps<Props> {
  readonly load: Load<Props>;
  readonly props: NoInfer<Props>;
}

export function Lazy<Props extends object>({ load, props }: LazyProps<Props>): JSX.Element {
  const { Found, failure } = useLoaded(load);
  if (Found !== undefined) return <Found {...props} />;
  // After an update of the service its files have new names. Reloading the page loads them.
  if (failure !== undefined)
    return <Failure error={new Error('This page could not be loaded.')} retry={() => location.reload()} />;
  return <Loading />;
}

/** For a dialog: nothing is drawn until it is loaded, and a failure closes it with a notice. */
export function LazyDialog<Props extends { readonly onClose: () => void }>({
  load,
  props,
}: LazyProps<Props>): JSX.Element | null {
  const { Found, failure } = useLoaded(load);
  const onClose = useLatest(props.onClose);
  useEffect(() => {
    if (failure === undefined) return;
    notifyFailure(new Error('This could not be loaded. Reload the page.'));
    onClose();
  }, [failure, onClose]);
  return Found === undefined ? null : <Found {...props} />;
}

/** Loads a dialog that a key may open, when the browser has had time: keys typed right after it belong into its field. */
export function usePreloaded<Props>(load: Load<Props>): void {
  useEffect(() => {
    const timer = setTimeout(() => void keep(load).catch(() => undefined), idleMs);
    return () => clearTimeout(timer);
  }, [load]);
}

function useLoaded<Props>(load: Load<Props>): {
  readonly Found: ComponentType<Props> | undefined;
  readonly failure: unknown;
} {
  const [, setRound] = useState(0);
  const [failure, setFailure] = useState<unknown>(undefined);
  // Stored under its own load function, so it accepts that function's props.
  const Found = loaded.get(load) as ComponentType<Props> | undefined;
  const isDrawn = Found !== undefined;
  useEffect(() => {
    // It may have been loaded since it was drawn without.
    if (isDrawn) return;
    setFailure(undefined);
    keep(load).then(
      () => setRound((round) => round + 1),
      (error: unknown) => setFailure(error),
    );
  }, [load, isDrawn]);
  return { Found, failure };
}

async function keep<Props>(load: Load<Props>): Promise<void> {
  loaded.set(load, await load());
}
