import { rankPolicies } from './matching.ts';
import { type InvalidPolicy, type Policy } from './policy.ts';
import { parsePolicy } from './policy-spec.ts';

/** The policies as last seen, parsed and ranked; another array only when a spec changed, so that a pass can tell. */
export class PolicySet {
  #ranked: readonly (Policy | InvalidPolicy)[] = [];
  #fingerprint = '';
  #statuses: ReadonlyMap<string, unknown> = new Map();
  /** Each object is read once: an event of one of many policies must not cost the reading of all. */
  #known: ReadonlyMap<StoredObject, Known> = new Map();

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

/** The fingerprint has the spec itself, not only its generation: a default that changed with the CRD, or a restored backup, moves none. */
function knownOf(object: StoredObject): Known {
  const { policy } = parsePolicy(object);
  return { object, policy, fingerprint: JSON.stringify([policy.uid, policy.generation, object['spec']]) };
}
