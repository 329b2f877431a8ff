import { rankPolicies } from './matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from './policy.ts';
import { parsePolicy } from './policy-spec.ts';

/** Highest priority first. */
export type RankedPolicies = readonly (Policy | InvalidPolicy)[];

/** The policies as last seen, parsed and ranked. The array changes only if a spec or a hold changes, so that a pass can detect it. */
export class PolicySet {
  #ranked: RankedPolicies = [];
  #fingerprint = '';
  #statuses: ReadonlyMap<string, unknown> = new Map();
  /** Each object is parsed once: an event of one policy must not parse all others again. */
  #known: ReadonlyMap<StoredObject, Known> = new Map();

  get ranked(): RankedPolicies {
    return this.#ranked;
  }

  /** Equal for sets with the same specs and ended holds, whatever their statuses are. */
  get fingerprint(): string {
    return this.#fingerprint;
  }

  /** The name of each policy and its status as stored, unchecked. */
  get statuses(): readonly { readonly name: string; readonly status: unknown }[] {
    return this.#ranked.map(({ name, uid }) => ({ name, status: this.#statuses.get(uid) }));
  }

  /** `status` as stored, unchecked; undefined if there is none. */
  storedStatus(uid: string): unknown {
    return this.#statuses.get(uid);
  }

  /** Replaces the whole list. Returns whether a spec changed or a hold ended, not merely a status. */
  update(objects: Iterable<StoredObject>): boolean {
    const all = [...objects].map((object) => this.#known.get(object) ?? knownOf(object));
    this.#known = new Map(all.map((one) => [one.object, one]));
    this.#statuses = new Map(all.map(({ object, policy }) => [policy.uid, object['status']]));
    const fingerprint = `[${all
      .map((one) => one.fingerprint)
      .sort()
      .join()}]`;
    if (fingerprint === this.#fingerprint) return false;
    this.#fingerprint = fingerprint;
    this.#ranked = rankPolicies(all.map(({ policy }) => policy));
    return true;
  }
}

type StoredObject = Readonly<Record<string, unknown>>;

interface Known {
  readonly object: StoredObject;
  readonly policy: Policy | InvalidPolicy;
  readonly fingerprint: string;
}

/** The fingerprint contains the spec and the annotation: a default that changed with the CRD, a restored backup, or the end of a hold does not change the generation. */
function knownOf(object: StoredObject): Known {
  const policy = parsePolicy(object);
  const skipHoldOf = isInvalid(policy) ? undefined : policy.skipHoldOf;
  const fingerprint = JSON.stringify([policy.uid, policy.generation, skipHoldOf, object['spec']]);
  return { object, policy, fingerprint };
}
