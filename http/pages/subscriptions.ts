// Importing a file subscribes to nothing. A part of the pages that follows the socket, the sign-in or the window has a
// function that starts it and returns how to stop it; `start.ts` calls them.

/** Ends a subscription. Calling it again does nothing. */
export type Stop = () => void;
/** Starts a part of the pages. */
export type Start = () => Stop;

/** Ends all of them, the newest first. */
export function stopAll(stops: readonly Stop[]): Stop {
  return () => {
    for (const stop of [...stops].reverse()) stop();
  };
}

export function startAll(starts: readonly Start[]): Stop {
  return stopAll(starts.map((start) => start()));
}

export function onWindow<Type extends keyof WindowEventMap>(
  type: Type,
  run: (event: WindowEventMap[Type]) => void,
  options?: AddEventListenerOptions,
): Stop {
  addEventListener(type, run, options);
  return () => removeEventListener(type, run, options);
}

export function onDocument<Type extends keyof DocumentEventMap>(
  type: Type,
  run: (event: DocumentEventMap[Type]) => void,
): Stop {
  document.addEventListener(type, run);
  return () => document.removeEventListener(type, run);
}
