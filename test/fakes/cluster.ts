import type { ClusterActions, DeletedPod } from '../../src/kube/actions/cluster.ts';
import type { LivePolicies, LiveReads } from '../../src/kube/actions/live-reads.ts';
import type { NamespaceFacts, NodeFacts, PodFacts } from '../../src/kube/cache/objects.ts';
import type { EventSpec, Recorder } from '../../src/kube/events/recorder.ts';
import type { Store } from '../../src/kube/cache/reflector.ts';
import { livePolicies } from './evictions.ts';

/** A cluster in memory: set pods and nodes, run a pass, read the remaining ones. Its maps are the caches' contents. */
export class FakeCluster implements ClusterActions, Pick<LiveReads, 'policies' | 'node' | 'namespace'> {
  readonly pods = new Map<string, PodFacts>();
  readonly nodes = new Map<string, NodeFacts>();
  /** Nodes the API server knows although the cache does not. */
  readonly unseenNodes = new Map<string, NodeFacts>();
  readonly requests: string[] = [];
  readonly failed = new Map<string, string | undefined>();
  #faults: ((verb: string, name: string) => Error | undefined)[] = [];

  constructor(pods: readonly PodFacts[] = [], nodes: readonly NodeFacts[] = []) {
    for (const pod of pods) this.pods.set(pod.uid, pod);
    for (const node of nodes) this.nodes.set(node.uid, node);
  }

  /** Called before each request, which rejects with the returned error. */
  fault(fault: (verb: string, name: string) => Error | undefined): void {
    this.#faults.push(fault);
  }

  get podNames(): string[] {
    return [...this.pods.values()].map(({ name }) => name).sort();
  }

  policies = (): Promise<LivePolicies> => Promise.resolve(livePolicies());

  async node(name: string): Promise<NodeFacts | undefined> {
    await this.#request('get', name);
    return [...this.nodes.values(), ...this.unseenNodes.values()].find((node) => node.name === name);
  }

  /** All namespaces exist without labels. */
  namespace(name: string): Promise<NamespaceFacts | undefined> {
    return Promise.resolve({ uid: `uid-${name}`, name, resourceVersion: '1', labels: {} });
  }

  async deletePod(pod: DeletedPod): Promise<'deleted' | 'gone' | 'changed'> {
    await this.#request('delete', pod.name);
    const found = this.#find(pod);
    if (typeof found === 'string') return found;
    this.pods.delete(found.uid);
    return 'deleted';
  }

  async markPodFailed(
    pod: DeletedPod,
    condition: { readonly reason: string } | undefined,
  ): Promise<'marked' | 'gone' | 'changed'> {
    await this.#request('mark', pod.name);
    const found = this.#find(pod);
    if (typeof found === 'string') return found;
    this.failed.set(pod.name, condition?.reason);
    const resourceVersion = `${found.resourceVersion}1`;
    const markedByPodGc = condition !== undefined;
    this.pods.set(found.uid, { ...found, phase: 'Failed', markedByPodGc, resourceVersion });
    return 'marked';
  }

  #find(pod: DeletedPod): PodFacts | 'gone' | 'changed' {
    const found = [...this.pods.values()].find(
      ({ namespace, name }) => namespace === pod.namespace && name === pod.name,
    );
    if (found === undefined) return 'gone';
    const isVersion = (pod.resourceVersion ?? found.resourceVersion) === found.resourceVersion;
    return found.uid === pod.uid && isVersion ? found : 'changed';
  }

  async #request(verb: string, name: string): Promise<void> {
    this.requests.push(`${verb} ${name}`);
    await new Promise((resolve) => setImmediate(resolve));
    for (const fault of this.#faults) {
      const err = fault(verb, name);
      if (err !== undefined) throw err;
    }
  }
}

/** A synced cache of these items. */
export const storeOf = <T>(items: ReadonlyMap<string, T>, synced = true): Store<T> => ({ items, synced });

export class FakeRecorder implements Recorder {
  readonly events: EventSpec[] = [];

  record(event: EventSpec): void {
    this.events.push(event);
  }

  get reasons(): string[] {
    return this.events.map(({ reason, regarding }) => `${reason} ${regarding.kind}/${regarding.name}`);
  }
}
