// Shown after signing in, before anything else, if the workspace requires a second factor and the agent has none.

import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { endEnrolling, signOut } from '../session.ts';
import { Gate } from './gate.tsx';
import { SecondFactors } from './second-factors.tsx';

export function Enrol(): JSX.Element {
  return (
    <Gate
      title="Set up a second factor"
      aside={
        <Button kind="quiet" onClick={signOut}>
          Sign out
        </Button>
      }
    >
      <p>Your workspace requires a second factor. Set one up to continue.</p>
      <SecondFactors onDone={endEnrolling} />
    </Gate>
  );
}
