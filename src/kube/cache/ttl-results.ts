import { ttlRuleJson, ttlRuleMatcher, type PodEnd, type TtlMatchers } from '../../api/policy/ttl-rules.ts';
import type { LabelKeys, PodFacts } from './objects.ts';

interface Test {
  readonly key: string;
  readonly matches: (end: PodEnd) => boolean;
}

export const noTtlResults: PodFacts['ttlRules'] = new Map();

/** A full table is emptied, so that churn cannot make it grow. */
const maxResults = 4096;

/** Compares pods with the entries of ttlByReason among the keys that are read. Pods with equal results share one map. */
export class TtlResults {
  #keys: LabelKeys | undefined;
  #tests: readonly Test[] = [];
  readonly #results = new Map<string, PodFacts['ttlRules']>();

  /** `endOf` is called only if there is an entry. */
  of(keys: LabelKeys, endOf: () => PodEnd): PodFacts['ttlRules'] {
    if (keys !== this.#keys) this.#begin(keys);
    if (this.#tests.length === 0) return noTtlResults;
    const end = endOf();
    const matched = this.#tests.map(({ matches }) => matches(end));
    const name = matched.map(Number).join('');
    const known = this.#results.get(name);
    if (known !== undefined) return known;
    if (this.#results.size >= maxResults) this.#results.clear();
    const results = new Map(this.#tests.map(({ key }, i) => [key, matched[i] ?? false]));
    this.#results.set(name, results);
    return results;
  }

  #begin(keys: LabelKeys): void {
    this.#keys = keys;
    this.#tests = keys === 'all' ? [] : [...keys].flatMap(testOf);
    this.#results.clear();
  }
}

function testOf(key: string): readonly Test[] {
  const json = ttlRuleJson(key);
  // Written by ttlRuleKey.
  return json === undefined ? [] : [{ key, matches: ttlRuleMatcher(JSON.parse(json) as TtlMatchers) }];
}
