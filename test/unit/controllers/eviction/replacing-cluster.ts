import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { LocalStoragePolicy } from '../../../../src/api/policy/policy.ts';
import { owner, pod } from '../../../builders.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { evictionRequest, evictPolicy } from './builders.ts';
import { EvictionEnvironment } from './environment.ts';

interface Step {
  /** Whether the pods that replace those of a ReplicaSet exceed again; default: all do. */
  readonly exceedsAgain?: (replicaSet: string) => boolean;
  /** What its node requests for a pod; default: its emptyDir exceeds the limit. */
  readonly request?: (name: string) => EvictionRequest;
}

/** A cluster whose pods exceed their limits, and whose ReplicaSets replace each evicted pod at once. */
export class ReplacingCluster extends EvictionEnvironment {
  readonly #nodeOf: (replicaSet: string) => string;
  readonly #exceeding = new Set<string>();
  #created = 0;

  constructor(
    replicas: Readonly<Record<string, number>>,
    rule: Partial<LocalStoragePolicy> = {},
    nodeOf: (replicaSet: string) => string = () => 'node-1',
  ) {
    super();
    this.policies.ranked = [evictPolicy({ maxEvictionsPerMinute: 1_000, ...rule })];
    this.#nodeOf = nodeOf;
    for (const [name, count] of Object.entries(replicas))
      for (let i = 0; i < count; i += 1) this.#create(name, true);
    this.clock.advance(3_600_000);
  }

  #create(replicaSet: string, exceeds: boolean): void {
    this.#created += 1;
    const name = `${replicaSet}-${this.#created}`;
    const nodeName = this.#nodeOf(replicaSet);
    const controller = owner('ReplicaSet', replicaSet);
    this.evictions.put(livePod(name, { nodeName, controller }));
    const createdAtMs = this.clock.now().getTime();
    this.pods.items.set(`uid-${name}`, pod(name, { phase: 'Running', nodeName, controller, createdAtMs }));
    if (exceeds) this.#exceeding.add(name);
  }

  /** One pass over requests that were measured now. Returns the evicted pods, which are replaced. */
  async step({ exceedsAgain = () => true, request = evictionRequest }: Step = {}): Promise<
    readonly string[]
  > {
    const before = this.evictions.acts.length;
    const observedAtMs = this.clock.now().getTime();
    const exceeding = [...this.pods.items.values()].filter(({ name }) => this.#exceeding.has(name));
    this.nodeReports.items.clear();
    for (const [nodeName, pods] of Map.groupBy(exceeding, ({ nodeName: on = '' }) => on))
      this.requestFrom(nodeName, ...pods.map(({ name }) => ({ ...request(name), observedAtMs })));
    await this.pass();
    const tried = this.evictions.acts.slice(before).map((act) => act.replace('evict ', ''));
    const evicted = tried.filter((name) => this.evictions.outcomes.get(name) === undefined);
    for (const name of evicted) {
      this.pods.items.delete(`uid-${name}`);
      const replicaSet = name.slice(0, name.lastIndexOf('-'));
      this.#create(replicaSet, exceedsAgain(replicaSet));
    }
    return evicted;
  }

  /** Steps every ten seconds; returns the evicted pods, each with the monotonic time since the begin, milliseconds. */
  async run(
    minutes: number,
    step: Step = {},
  ): Promise<readonly { readonly name: string; readonly atMs: number }[]> {
    const beganMs = this.clock.monotonicMs();
    const evicted: { readonly name: string; readonly atMs: number }[] = [];
    for (let atMs = 0; atMs < minutes * 60_000; atMs = this.clock.monotonicMs() - beganMs) {
      evicted.push(...(await this.step(step)).map((name) => ({ name, atMs })));
      this.clock.advance(10_000);
    }
    return evicted;
  }
}
