import type { StoragePod } from '../../api/local-storage.ts';
import { governNode, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { PolicySet, type RankedPolicies } from '../../api/policy/policy-set.ts';
import { nodePodsResource, type NodePodFacts } from '../../kube/cache/node-pods.ts';
import type { Identified, NodeFacts, RawFacts } from '../../kube/cache/objects.ts';
import { Reflector, type ReflectorDeps } from '../../kube/cache/reflector.ts';
import { nodesResource, policiesResource, type Resource } from '../../kube/cache/resources.ts';
import { Edge } from '../../runtime/scheduling/edge.ts';
import type { Check } from '../../runtime/serving/health.ts';

interface AgentCachesDeps extends Omit<ReflectorDeps<Identified>, 'resource' | 'onChange'> {
  readonly nodeName: string;
  /** Called when all caches are synced, for the first time or again, and when policies or the node's policy changed. */
  readonly onNews: () => void;
}

/** The three watches of the agent: all policies, its own node, and the pods bound to it. */
export class AgentCaches {
  readonly #deps: AgentCachesDeps;
  readonly #policySet = new PolicySet();
  readonly #policies: Reflector<RawFacts>;
  readonly #nodes: Reflector<NodeFacts>;
  readonly #pods: Reflector<NodePodFacts>;
  readonly #ready: Edge;
  /** The policy of the node that was logged last, or the reason why there is none. */
  #logged = '';
  /** All of them, for metrics and the report. */
  readonly all: readonly Reflector<Identified>[];

  constructor(deps: AgentCachesDeps) {
    this.#deps = deps;
    const { nodeName, onNews } = deps;
    // One node, its pods, and a few policies: lists that the API server serves to every agent from memory.
    const watched = <T extends Identified>(resource: Resource<T>, onChange: () => void): Reflector<T> =>
      new Reflector<T>({ ...deps, resource, onChange, pageSize: 'all' });
    this.#policies = watched(policiesResource(), () =>
      this.#update(this.#policySet.update([...this.#policies.items.values()].map(({ object }) => object))),
    );
    this.#nodes = watched(nodesResource({ name: nodeName }), () => this.#update(false));
    this.#pods = watched(nodePodsResource(nodeName), () => this.#update(false));
    this.all = [this.#policies, this.#nodes, this.#pods];
    this.#ready = new Edge(() => this.all.every(({ synced }) => synced), onNews);
  }

  /** One readiness check per cache. */
  get checks(): readonly Check[] {
    const missing = (): string | undefined =>
      this.lastNode() === undefined ? `there is no node ${this.#deps.nodeName}` : undefined;
    return [this.#policies.check('gcpolicies'), this.#nodes.check('node', missing), this.#pods.check('pods')];
  }

  /** The policy that governs the node now; NodeUnknown while a watch does not work or the node does not exist. */
  governance(): NodeGovernance {
    return governNode(this.policies(), this.node());
  }

  /** All policies; undefined while their watch does not work. */
  policies(): RankedPolicies | undefined {
    return this.#policies.synced ? this.#policySet.ranked : undefined;
  }

  /** The pods bound to the node; undefined while their watch does not work. */
  pods(): readonly StoragePod[] | undefined {
    return this.#pods.synced ? [...this.#pods.items.values()] : undefined;
  }

  /** undefined while the watch does not work or the node does not exist. */
  node(): NodeFacts | undefined {
    return this.#nodes.synced ? this.lastNode() : undefined;
  }

  /** The Node as last listed, also while the watch does not work; undefined = no list is complete, or it does not exist. */
  lastNode(): NodeFacts | undefined {
    return [...this.#nodes.items.values()].find(({ name }) => name === this.#deps.nodeName);
  }

  /** Keeps all of them current until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all.map((cache) => cache.run(signal)));
  }

  #update(isNews: boolean): void {
    this.#ready.check();
    // A watch that stops working is no change of the policy.
    const isKnown = this.#policies.synced && this.#nodes.synced;
    if ((isKnown && this.#logChange()) || isNews) this.#deps.onNews();
  }

  /** Logs a change of the policy that governs the node, or of the reason why there is none; returns whether there is one. */
  #logChange(): boolean {
    const now = this.governance();
    const { uid, generation, name: policy } = now.policy ?? {};
    const key = JSON.stringify([now.kind, now.kind === 'keep' && now.reason, uid, generation]);
    if (key === this.#logged) return false;
    this.#logged = key;
    const { log, nodeName: node } = this.#deps;
    if (now.kind === 'governed')
      log.info({ node, policy, mode: now.policy.mode }, 'policy governs this node');
    else if (now.reason === 'NodeUnknown')
      log.warn({ node, policy }, 'there is no such node, nothing is collected until it appears');
    else log.info({ node, policy, reason: now.reason }, 'nothing is collected on this node');
    return true;
  }
}
