// A number has three places: the directory, where it is one workspace's, the carrier, where it is bought, and the
// workspace's own file. This takes it through all of them, and back where one says no. Called by the edge; asks the
// carrier and so waits.

import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import type { Carrier } from '../../workers/providers/carrier.ts';
import { phoneNumberKind } from '../conversations/call.ts';
import type { Directory } from '../directory/directory.ts';
import { aroundClaim, aroundRelease, forgetNumber, type NumberClaim, sweepNumbers } from '../directory/numbers.ts';
import { refuse } from '../errors.ts';
import type { Caller } from '../runtime/caller.ts';
import { type Engine, WorkspaceUnavailable } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { type ClaimFields, claimNumber, releaseNumber, requireClaimable, requireHeld } from './phone-numbers.ts';

export interface NumberPlaces {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly carrier: Carrier;
  readonly ids: Ids;
  readonly log: Log;
}

interface Asked {
  readonly workspaceId: string;
  readonly caller: Caller;
}

/** What the carrier knows a number by, so that one of ours is told from others of the same account. */
function labelOf(numberId: string): string {
  return `switchboard ${numberId}`;
}

/** Refuses service_unavailable when there is none. */
export function requireCarrier(carrier: Carrier): void {
  if (carrier.provider === 'none') refuse('service_unavailable', { message: 'No carrier is configured.' });
}

/**
 * Refuses service_unavailable, number_taken, plan_limit beyond `maxNumbers`, semantic_error (the carrier will not sell
 * it) and as claimNumber. Rejects with CarrierUnavailable.
 */
export function buyNumber(
  places: NumberPlaces,
  asked: Asked & { fields: ClaimFields; maxNumbers: number },
): Promise<PhoneNumberRecord> {
  const { engine, directory, carrier, ids } = places;
  const { workspaceId, caller, fields, maxNumbers } = asked;
  requireCarrier(carrier);
  const workspace = engine.workspace(workspaceId) ?? refuse('not_found');
  requireClaimable(workspace.view(caller), fields);
  const numberId = ids.uuid();
  const ordered = { e164: fields.e164, label: labelOf(numberId) };
  let mayBeBought = false;
  return aroundClaim(
    directory,
    { numberId, e164: fields.e164, workspaceId, maxNumbers },
    {
      async work() {
        mayBeBought = true;
        const purchase = await carrier.buy(ordered);
        if (purchase.state !== 'bought') {
          mayBeBought = false;
          refuse(...refusalOf(purchase));
        }
        return engine.execute(claimNumber, {
          workspaceId,
          caller,
          params: { numberId, provider: carrier.provider, providerDidId: purchase.providerDidId, fields },
        });
      },
      async giveBack() {
        if (mayBeBought) await carrier.giveBack(ordered);
      },
    },
  );
}

function refusalOf(
  purchase: Exclude<Awaited<ReturnType<Carrier['buy']>>, { state: 'bought' }>,
): Parameters<typeof refuse> {
  return purchase.state === 'taken'
    ? ['number_taken']
    : ['semantic_error', { message: `The carrier refuses: ${purchase.reason}` }];
}

/** Refuses as releaseNumber. The carrier hears of it from the outbox. */
export function giveUpNumber(
  places: NumberPlaces,
  asked: Asked & { phoneNumberId: string },
): Promise<PhoneNumberRecord> {
  const { engine, directory } = places;
  const { workspaceId, caller, phoneNumberId } = asked;
  requireHeld((engine.workspace(workspaceId) ?? refuse('not_found')).view(caller), phoneNumberId);
  return aroundRelease(directory, phoneNumberId, () =>
    engine.execute(releaseNumber, { workspaceId, caller, params: { phoneNumberId } }),
  );
}

/** Settles what a crash, a carrier or a disk left reserved. Resolves to what may be bought for nobody. */
export function sweepNumberPlaces({ engine, directory }: NumberPlaces): Promise<NumberClaim[]> {
  return sweepNumbers(directory, ({ workspaceId, numberId }) => {
    try {
      return engine.workspace(workspaceId)?.registry.get(phoneNumberKind, numberId)?.status;
    } catch (error) {
      if (error instanceof WorkspaceUnavailable) return null;
      throw error;
    }
  });
}

/**
 * Gives those numbers back, and lets others have them then. Behind the start, since it asks the carrier. Rejects when
 * the carrier did not take all of them.
 */
export async function giveBackOrphans(
  { directory, carrier, log }: NumberPlaces,
  orphans: readonly NumberClaim[],
  isStopping: () => boolean,
): Promise<void> {
  let failed = 0;
  for (const { numberId, e164 } of orphans) {
    try {
      await carrier.giveBack({ e164, label: labelOf(numberId) });
      if (isStopping()) return;
      await forgetNumber(directory, numberId);
    } catch (error) {
      failed += 1;
      log.error(
        { e164, err: error },
        'a number that may be bought for nobody could not be given back; it is tried again',
      );
    }
  }
  if (failed > 0) throw new Error(`${failed} numbers could not be given back`);
}
