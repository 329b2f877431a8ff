import type { Clock } from '../runtime/clock.ts';
import { errorLine } from '../runtime/errors.ts';
import { Fresh, liveMs } from '../runtime/fresh.ts';
import type { Logger } from '../runtime/logger.ts';
import { isSamePolicy, type NodeGovernance } from './node-governance.ts';
import type { NodePod } from './node-pass.ts';
import type { Policy } from './policy.ts';

/** What the API server itself, not a cache, says of a node right before something is removed from it. */
export interface NodeConfirmation {
  readonly governance: NodeGovernance;
  /** All that are bound to the node. */
  readonly pods: readonly NodePod[];
  /** By how much our clock is ahead of the server's; 0 where the server does not say. */
  readonly clockSkewMs: number;
}

/** Rejects when any of it cannot be read. */
export type ConfirmNode = (signal: AbortSignal) => Promise<NodeConfirmation>;

/** More than a network makes of synchronised clocks. */
const tolerableSkewMs = 60_000;

export interface LiveCheckDeps {
  readonly confirm: ConfirmNode;
  /** What the plan was made from. */
  readonly policy: Policy;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/** Asks the API server, for one pass that is about to remove something, whether it may; the first no ends the pass. */
export class LiveCheck {
  readonly #policy: Policy;
  readonly #log: Logger;
  readonly #live: Fresh<NodeConfirmation>;
  /** Why nothing more may be removed in this pass. */
  halted: string | undefined;
  /** Why something could not be decided. */
  undecided: string | undefined;

  constructor({ confirm, policy, clock, log }: LiveCheckDeps) {
    this.#policy = policy;
    this.#log = log;
    this.#live = new Fresh(confirm, { clock, maxAgeMs: liveMs });
  }

  /** At most 5 s old; undefined = nothing more may be removed in this pass. Never rejects. */
  async ask(signal: AbortSignal): Promise<NodeConfirmation | undefined> {
    if (this.halted !== undefined) return undefined;
    try {
      return this.#checked(await this.#live.get(signal));
    } catch (err) {
      if (signal.aborted) this.halted = 'shutting down';
      else this.#fail(err);
      return undefined;
    }
  }

  /** Whether the node's clock is too far from the API server's to judge an age by: then that is told. */
  isClockUnsure({ clockSkewMs }: NodeConfirmation): boolean {
    if (Math.abs(clockSkewMs) <= tolerableSkewMs) return false;
    const seconds = Math.round(Math.abs(clockSkewMs) / 1000);
    const side = clockSkewMs > 0 ? 'ahead of' : 'behind';
    this.undecided ??= `the clock of this node is ${seconds} s ${side} the API server's`;
    return true;
  }

  #checked(live: NodeConfirmation): NodeConfirmation | undefined {
    const { governance } = live;
    if (governance.kind === 'governed' && isSamePolicy(governance.policy, this.#policy)) return live;
    this.halted = 'policies have changed';
    const now = governance.kind === 'keep' ? governance.reason : governance.policy.mode;
    this.#log.info({ policy: this.#policy.name, now }, 'policies have changed, pass ends early');
    return undefined;
  }

  #fail(err: unknown): void {
    this.undecided = `policies, node and pods cannot be confirmed live: ${errorLine(err)}`;
    this.halted = this.undecided;
    this.#log.warn(
      { err },
      'confirming policies, node and pods failed, nothing more is removed in this pass',
    );
  }
}

/** The pods that a cache or the API server itself has: what only one of them knows is protected as well. undefined = the cache does not know them. */
export const podsOfBoth = <T>(
  cached: readonly T[] | undefined,
  live: readonly T[],
): readonly T[] | undefined => cached && [...cached, ...live];
