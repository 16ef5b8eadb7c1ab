// The rate limits of calls: which budget a call is counted against, and whether anything is left of it. A caller has a
// budget of its own; calls without a caller are counted by network, where they came in. Used only by the pipeline.

import type { Refusal } from '../../engine/errors.ts';
import type { Grant } from '../../engine/rights/scopes.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import { networkOf, siteNetworkOf } from '../limits/network-address.ts';
import { type Budget, type CallerBudget, RateLimiter } from '../limits/rate-limiter.ts';
import type { RequestHead } from '../request.ts';
import type { RateRule, Route } from '../route.ts';
import type { Services } from '../services.ts';
import { type Credential, knownCredential } from './credentials.ts';
import { rateRefusal } from './replies.ts';

export interface Spent {
  /** The caller's own budget, for the reply's headers; undefined for calls that are counted by network. */
  readonly budget?: CallerBudget;
  /** Nothing is left of it. */
  readonly exceeded?: Refusal;
}

/** Whom a call is counted for. */
type Counted = Pick<Credential, 'caller' | 'workspaceId'> & { readonly grant?: Grant | undefined };

/** Counts a call against a key, or only looks. */
type Count = (key: string, perMinute: number) => Budget;

/** A /48 has the budget of this many of its /64 networks. */
const networksPerSite = 10;
/** Preflights of a network in a minute that are answered without a body. */
const bodilessPreflights = 30;

export class Budgets {
  readonly #services: Services;
  readonly #limiter: RateLimiter;
  readonly #take: Count = (key, perMinute) => this.#limiter.take(key, perMinute);
  readonly #look: Count = (key, perMinute) => this.#limiter.look(key, perMinute);

  constructor(services: Services) {
    this.#services = services;
    this.#limiter = new RateLimiter(services.clock);
  }

  /** Counts one call. */
  spend(route: Route, call: Counted & Pick<RequestHead, 'ip' | 'forwarded'>): Spent {
    const { limit } = route;
    if (limit !== undefined && limit.by !== 'caller')
      return this.#isOn && call.forwarded === undefined
        ? this.#ofNetwork(networkBudgetOf(route, limit), call.ip, this.#take)
        : {};
    // Other systems deliver the messages of many people in bursts.
    if (call.workspaceId === '' || route.access.kind === 'signed') return {};
    return this.#ofCaller(route, call, this.#take);
  }

  /** What spend() would refuse, as far as the head says. Counts nothing. */
  look(route: Route, head: RequestHead): Spent {
    const { limit, access } = route;
    if (!this.#isOn) return {};
    if (limit !== undefined && limit.by !== 'caller')
      return head.forwarded === undefined ? this.#ofNetwork(networkBudgetOf(route, limit), head.ip, this.#look) : {};
    const credential = knownCredential(access, head, this.#services);
    return credential === undefined ? {} : this.#ofCaller(route, credential, this.#look);
  }

  /** Counts a socket frame that is not a call, such as a typing event. False when the budget is used up. */
  spendFrame({ caller, workspaceId }: Credential): boolean {
    const { rateLimitPerMinute } = this.#services.config;
    return !this.#isOn || this.#take(keyOf(caller, workspaceId), rateLimitPerMinute).allowed;
  }

  /** The refusal of the caller's next call, whatever it is; undefined if there is budget left. Counts nothing. */
  exceeded({ caller, workspaceId }: Credential): Refusal | undefined {
    if (!this.#isOn) return undefined;
    return exceededOf(this.#look(keyOf(caller, workspaceId), this.#services.config.rateLimitPerMinute));
  }

  /** Whether a preflight may be answered without a body; such replies cannot be checked for being read. */
  allowsBodilessPreflight(ip: string): boolean {
    return this.#take(`preflights:${networkOf(ip)}`, bodilessPreflights).allowed;
  }

  get #isOn(): boolean {
    return this.#services.config.rateLimits;
  }

  /** Calls that exceed a network's own budget are not counted against its /48, so that it cannot use up its neighbours'. */
  #ofNetwork({ name, perMinute }: NetworkBudget, ip: string, count: Count): Spent {
    const own = count(`${name}:${networkOf(ip)}`, perMinute);
    const site = siteNetworkOf(ip);
    const budget = own.allowed && site !== undefined ? count(`${name}:${site}`, networksPerSite * perMinute) : own;
    return refusedBy(exceededOf(budget));
  }

  /** All apps of a workspace share one budget, and each has an equal one of its own (specification 5.14). */
  #ofCaller({ limit, operation }: Route, { caller, workspaceId, grant }: Counted, count: Count): Spent {
    const factor = limit?.by === 'caller' ? limit.factor : 1;
    const perMinute = this.#services.config.rateLimitPerMinute * factor;
    // A route with a larger limit is counted separately, or its calls would use up the budget of all others.
    const ofRoute = factor === 1 ? '' : `:${operation}`;
    const shared = count(`${budgetKeyOf({ caller, workspaceId, grant })}${ofRoute}`, perMinute);
    const budget =
      grant?.by === 'app' ? { ...shared, ofApp: count(`app:${grant.id}:${workspaceId}${ofRoute}`, perMinute) } : shared;
    const exceeded = this.#isOn ? exceededOf(shared) : undefined;
    return exceeded === undefined ? { budget } : { budget, exceeded };
  }
}

function exceededOf({ allowed, resetSeconds }: Budget): Refusal | undefined {
  return allowed ? undefined : rateRefusal(resetSeconds);
}

function refusedBy(exceeded: Refusal | undefined): Spent {
  return exceeded === undefined ? {} : { exceeded };
}

interface NetworkBudget {
  readonly name: string;
  readonly perMinute: number;
}

function networkBudgetOf({ operation }: Route, limit: Exclude<RateRule, { by: 'caller' }>): NetworkBudget {
  return limit.by === 'account'
    ? { name: limit.budget ?? operation, perMinute: limit.networkPerMinute }
    : { name: operation, perMinute: limit.perMinute };
}

/** Test keys have a budget of their own, so that a test run takes nothing from people at work. */
function budgetKeyOf({ caller, workspaceId, grant }: Counted): string {
  if (grant?.by === 'app') return `apps:${workspaceId}`;
  return `${keyOf(caller, workspaceId)}${grant?.mode === 'test' ? ':test' : ''}`;
}

function keyOf(caller: Caller, workspaceId: string): string {
  if (caller.kind === 'agent') return `agent:${caller.agentId}`;
  return caller.kind === 'visitor' ? `visitor:${caller.visitorId}` : `workspace:${workspaceId}`;
}
