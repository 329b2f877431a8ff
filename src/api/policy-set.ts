import { rankPolicies } from './matching.ts';
import { parsePolicy, type InvalidPolicy, type Policy } from './policy.ts';

/** The policies as last seen, parsed and ranked; another array only when a spec changed, so that a pass can tell. */
export class PolicySet {
  #ranked: readonly (Policy | InvalidPolicy)[] = [];
  #fingerprint = '';
  #statuses: ReadonlyMap<string, unknown> = new Map();

  get ranked(): readonly (Policy | InvalidPolicy)[] {
    return this.#ranked;
  }

  /** Equal for sets that ask for the same, whatever their statuses are. */
  get fingerprint(): string {
    return this.#fingerprint;
  }

  /** `status` as stored, unchecked; undefined when there is none. */
  storedStatus(uid: string): unknown {
    return this.#statuses.get(uid);
  }

  /** Takes the whole list; true when what is to be done changed, not merely a status. */
  update(objects: Iterable<Readonly<Record<string, unknown>>>): boolean {
    const all = [...objects].map((object) => ({ object, policy: parsePolicy(object).policy }));
    const ranked = rankPolicies(all.map(({ policy }) => policy));
    this.#statuses = new Map(all.map(({ object, policy }) => [policy.uid, object['status']]));
    const fingerprint = fingerprintOf(all);
    if (fingerprint === this.#fingerprint) return false;
    this.#fingerprint = fingerprint;
    this.#ranked = ranked;
    return true;
  }
}

interface Known {
  readonly object: Readonly<Record<string, unknown>>;
  readonly policy: Policy | InvalidPolicy;
}

/** The spec itself, not only its generation: a default that changed with the CRD, or a restored backup, moves none. */
const fingerprintOf = (all: readonly Known[]): string =>
  JSON.stringify(
    all.map(({ object, policy: { uid, generation } }) => [uid, generation, object['spec']]).sort(byUid),
  );

const byUid = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
