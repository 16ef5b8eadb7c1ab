// A number is in three places: the directory (reserved for one workspace), the carrier (bought) and the workspace's own
// file. This claims it in all three and undoes that if one refuses. Called by the edge; asynchronous, because it calls
// the carrier.

import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import type { Carrier } from '../../workers/providers/carrier.ts';
import { phoneNumberKind } from '../conversations/call.ts';
import type { NumberClaim } from '../directory/changes.ts';
import type { Directory } from '../directory/directory.ts';
import { aroundClaim, aroundRelease, forgetNumber, sweepNumbers } from '../directory/numbers.ts';
import { refuse } from '../errors.ts';
import type { Actor } from '../runtime/caller.ts';
import { type Engine, WorkspaceUnavailable } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { ServedElsewhere } from '../runtime/placement.ts';
import { type ClaimFields, claimNumber, releaseNumber, requireClaimable, requireHeld } from './phone-numbers.ts';

export interface NumberPlaces {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly carrier: Carrier;
  readonly ids: Ids;
  readonly log: Log;
}

/** The label at the carrier, which distinguishes our numbers from others of the same account. */
function labelOf(numberId: string): string {
  return `switchboard ${numberId}`;
}

/** Refuses service_unavailable if there is none. */
export function requireCarrier(carrier: Carrier): void {
  if (carrier.provider === 'none') refuse('service_unavailable', { message: 'No carrier is configured.' });
}

/**
 * Refuses service_unavailable, number_taken, plan_limit beyond `maxNumbers`, semantic_error (the carrier will not sell
 * it) and as claimNumber. Rejects with CarrierUnavailable.
 */
export function buyNumber(
  places: NumberPlaces,
  wanted: Actor & { fields: ClaimFields; maxNumbers?: number },
): Promise<PhoneNumberRecord> {
  const { engine, directory, carrier, ids } = places;
  const { workspaceId, caller, fields, maxNumbers } = wanted;
  requireCarrier(carrier);
  const workspace = engine.workspace(workspaceId) ?? refuse('not_found');
  requireClaimable(workspace.view(caller), fields);
  const numberId = ids.uuid();
  const ordered = { e164: fields.e164, label: labelOf(numberId) };
  let mayBeBought = false;
  return aroundClaim(
    directory,
    { numberId, e164: fields.e164, workspaceId, ...(maxNumbers === undefined ? {} : { maxNumbers }) },
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
      async undo() {
        if (mayBeBought) await carrier.releaseIfBought(ordered);
      },
    },
  );
}

function refusalOf(
  purchase: Exclude<Awaited<ReturnType<Carrier['buy']>>, { state: 'bought' }>,
): Parameters<typeof refuse> {
  return purchase.state === 'taken'
    ? ['number_taken']
    : ['semantic_error', { message: `The carrier refused: ${purchase.reason}` }];
}

/** Refuses as releaseNumber. The outbox notifies the carrier. */
export function giveUpNumber(
  places: NumberPlaces,
  held: Actor & { phoneNumberId: string },
): Promise<PhoneNumberRecord> {
  const { engine, directory } = places;
  const { workspaceId, caller, phoneNumberId } = held;
  requireHeld((engine.workspace(workspaceId) ?? refuse('not_found')).view(caller), phoneNumberId);
  return aroundRelease(directory, phoneNumberId, () =>
    engine.execute(releaseNumber, { workspaceId, caller, params: { phoneNumberId } }),
  );
}

/**
 * Settles reservations left by a crash, a carrier or a disk failure. Resolves to those that may be bought but belong to
 * no workspace.
 */
export function sweepNumberPlaces({ engine, directory }: NumberPlaces): Promise<NumberClaim[]> {
  return sweepNumbers(directory, ({ workspaceId, numberId }) => {
    try {
      return engine.workspace(workspaceId)?.registry.get(phoneNumberKind, numberId)?.status;
    } catch (error) {
      if (error instanceof WorkspaceUnavailable || error instanceof ServedElsewhere) return null;
      throw error;
    }
  });
}

/**
 * Releases those numbers at the carrier and then frees them. Runs after the start, because it calls the carrier.
 * Rejects if the carrier did not release all of them.
 */
export async function releaseOrphans(
  { directory, carrier, log }: NumberPlaces,
  orphans: readonly NumberClaim[],
  isStopping: () => boolean,
): Promise<void> {
  let failed = 0;
  for (const { numberId, e164 } of orphans) {
    try {
      await carrier.releaseIfBought({ e164, label: labelOf(numberId) });
      if (isStopping()) return;
      await forgetNumber(directory, numberId);
    } catch (error) {
      failed += 1;
      log.error(
        { e164, err: error },
        'a number that may have been bought for no workspace could not be released; it is tried again',
      );
    }
  }
  if (failed > 0) throw new Error(`${failed} numbers could not be released`);
}
