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

  /** `status` as stored, unchecked; undefined when there is none. */
  storedStatus(uid: string): unknown {
    return this.#statuses.get(uid);
  }

  /** Takes the whole list; true when what is to be done changed, not merely a status. */
  update(objects: Iterable<Readonly<Record<string, unknown>>>): boolean {
    const all = [...objects].map((object) => ({
      policy: parsePolicy(object).policy,
      status: object['status'],
    }));
    const ranked = rankPolicies(all.map(({ policy }) => policy));
    this.#statuses = new Map(all.map(({ policy, status }) => [policy.uid, status]));
    const fingerprint = JSON.stringify(ranked.map(({ uid, generation }) => [uid, generation]));
    if (fingerprint === this.#fingerprint) return false;
    this.#fingerprint = fingerprint;
    this.#ranked = ranked;
    return true;
  }
}
