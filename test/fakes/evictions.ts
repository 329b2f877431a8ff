import { PolicySet } from '../../src/api/policy/policy-set.ts';
import type { EvictionOutcome, PodEvictions } from '../../src/kube/actions/eviction.ts';
import type { LivePod, LivePolicies, LiveReads } from '../../src/kube/actions/live-reads.ts';
import type { PodName } from '../../src/kube/actions/pod-requests.ts';
import type { NamespaceFacts } from '../../src/kube/cache/objects.ts';

/** A live pod on node-1. `name` may be `namespace/name`. */
export function livePod(name: string, over: Partial<LivePod> = {}): LivePod {
  const [namespace, own] = name.includes('/') ? name.split('/') : ['default', name];
  return {
    uid: `uid-${name}`,
    ...{ name: own ?? name, namespace: namespace ?? 'default', resourceVersion: '1', labels: {} },
    ...{ controller: undefined, nodeName: 'node-1', phase: 'Running', isTerminating: false },
    ...{ priority: 0, configHash: undefined, doNotDisrupt: undefined },
    ...over,
  };
}

interface LiveOptions {
  /** Whether they are those of the plan: an empty set. */
  readonly same?: boolean;
  readonly clockSkewMs?: number;
}

/** The policies that the API server has. */
export function livePolicies({ same = true, clockSkewMs = 0 }: LiveOptions = {}): LivePolicies {
  const policies = new PolicySet();
  if (!same) policies.update([]);
  return { policies, clockSkewMs };
}

type Reads = Pick<LiveReads, 'policies' | 'namespace' | 'pod' | 'mayEvict'>;

/** An API server in memory: evicted pods are terminating; requests are recorded. */
export class FakeEvictions implements PodEvictions, Reads {
  readonly pods = new Map<string, LivePod>();
  /** `get a`, `evict a grace 5`, `delete a`. */
  readonly requests: string[] = [];
  /** Outcomes of evictions and deletes by name of the pod, in place of the normal one. */
  readonly outcomes = new Map<string, EvictionOutcome | Error>();
  /** Whether the user may evict pods. */
  isAllowed = true;
  /** Called once a request has come in, before it is served. */
  onRequest: (verb: string, name: string) => void = () => undefined;

  constructor(...pods: readonly LivePod[]) {
    for (const pod of pods) this.put(pod);
  }

  put(pod: LivePod): void {
    this.pods.set(keyOf(pod), pod);
  }

  /** The acts alone. */
  get acts(): readonly string[] {
    return this.requests.filter((request) => /^(evict|delete) /.test(request));
  }

  policies = (): Promise<LivePolicies> => Promise.resolve(livePolicies());

  async pod(pod: PodName): Promise<LivePod | undefined> {
    return this.#serve('get', pod.name, () => this.pods.get(keyOf(pod)));
  }

  /** All namespaces exist without labels. */
  namespace(name: string): Promise<NamespaceFacts | undefined> {
    return Promise.resolve({ uid: `uid-${name}`, name, resourceVersion: '1', labels: {} });
  }

  async mayEvict(namespace: string): Promise<boolean> {
    return this.#serve('may evict in', namespace, () => this.isAllowed);
  }

  async evictPod(pod: PodName & { uid: string }, grace: number | undefined): Promise<EvictionOutcome> {
    return this.#serve(`evict`, described(pod.name, grace), () =>
      this.#act(pod, (found) => found.uid === pod.uid),
    );
  }

  async deletePod(
    pod: PodName & { uid: string; resourceVersion: string },
    grace: number | undefined,
  ): Promise<EvictionOutcome> {
    return this.#serve(`delete`, described(pod.name, grace), () =>
      this.#act(pod, (found) => found.uid === pod.uid && found.resourceVersion === pod.resourceVersion),
    );
  }

  #act(pod: PodName, holds: (found: LivePod) => boolean): EvictionOutcome {
    const outcome = this.outcomes.get(pod.name);
    if (outcome instanceof Error) throw outcome;
    if (outcome !== undefined) return outcome;
    const found = this.pods.get(keyOf(pod));
    if (found === undefined) return { kind: 'gone' };
    if (!holds(found)) return { kind: 'changed' };
    this.put({ ...found, isTerminating: true });
    return { kind: 'evicted' };
  }

  async #serve<T>(verb: string, name: string, outcome: () => T): Promise<T> {
    this.requests.push(`${verb} ${name}`);
    this.onRequest(verb, name);
    await new Promise((resolve) => setImmediate(resolve));
    return outcome();
  }
}

const keyOf = ({ namespace, name }: PodName): string => `${namespace}/${name}`;
const described = (name: string, grace: number | undefined): string =>
  grace === undefined ? name : `${name} grace ${grace}`;
