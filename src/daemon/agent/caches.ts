import { readStatus } from '../../api/gen/gcpolicy.gen.ts';
import type { StoragePod } from '../../api/local-storage.ts';
import { governNode, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { PolicySet, type RankedPolicies } from '../../api/policy/policy-set.ts';
import { nodePodsResource, type NodePodFacts } from '../../kube/cache/node-pods.ts';
import type { Identified, NodeFacts, RawFacts } from '../../kube/cache/objects.ts';
import { Reflector, type ReflectorDeps } from '../../kube/cache/reflector.ts';
import { nodesResource, policiesResource } from '../../kube/cache/resources.ts';
import { Edge } from '../../runtime/scheduling/edge.ts';
import { sum } from '../../runtime/sum.ts';
import type { Check } from '../../runtime/serving/health.ts';

interface AgentCachesDeps extends Omit<ReflectorDeps<Identified>, 'resource' | 'onChange' | 'pollMs'> {
  readonly nodeName: string;
  readonly containerGcPeriodMs: number;
  /** Called when all caches are synced, for the first time or again, and when policies or the node's policy changed. */
  readonly onNews: () => void;
}

/** The longest mean pause between two polls. */
const longestPollMs = 5 * 60_000;
/** The labels of a node change less often than policies. */
const nodePollPeriods = 5;

/**
 * All policies, the agent's own node, and the pods bound to it. Only pods are watched: the watches of thousands of agents cost the API server
 * gigabytes, and the watch of policies would send each write of a status to each agent.
 */
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
    const { nodeName, containerGcPeriodMs, onNews } = deps;
    const pollMs = (periods: number): number => Math.min(periods * containerGcPeriodMs, longestPollMs);
    this.#policies = new Reflector({
      ...deps,
      resource: policiesResource(),
      pollMs: pollMs(1),
      onChange: () =>
        this.#update(this.#policySet.update([...this.#policies.items.values()].map(({ object }) => object))),
    });
    const onChange = (): void => this.#update(false);
    this.#nodes = new Reflector({
      ...deps,
      resource: nodesResource({ name: nodeName }),
      pollMs: pollMs(nodePollPeriods),
      onChange,
    });
    this.#pods = new Reflector({
      ...deps,
      resource: nodePodsResource(nodeName),
      listsByWatch: true,
      // Where that is two requests: a list without a limit, which the API server serves to every agent from memory.
      pageSize: 'all',
      onChange,
    });
    this.all = [this.#policies, this.#nodes, this.#pods];
    this.#ready = new Edge(() => this.all.every(({ synced }) => synced), onNews);
  }

  /** One readiness check per cache. */
  get checks(): readonly Check[] {
    const missing = (): string | undefined =>
      this.lastNode() === undefined ? `there is no node ${this.#deps.nodeName}` : undefined;
    return [this.#policies.check('gcpolicies'), this.#nodes.check('node', missing), this.#pods.check('pods')];
  }

  /** The policy that governs the node now; NodeUnknown while a cache is not current or the node does not exist. */
  governance(): NodeGovernance {
    return governNode(this.policies(), this.node());
  }

  /** All policies; undefined while they cannot be listed. */
  policies(): RankedPolicies | undefined {
    return this.#policies.synced ? this.#policySet.ranked : undefined;
  }

  /** The nodes that policies govern, as their statuses last said: 0 before the controller has written one. */
  governedNodes(): number {
    return sum(this.#policySet.statuses.map(({ status }) => readStatus(status).nodes?.desired ?? 0));
  }

  /** The pods bound to the node; undefined while their watch does not work. */
  pods(): readonly StoragePod[] | undefined {
    return this.#pods.synced ? [...this.#pods.items.values()] : undefined;
  }

  /** undefined while it cannot be listed or does not exist. */
  node(): NodeFacts | undefined {
    return this.#nodes.synced ? this.lastNode() : undefined;
  }

  /** The Node as last listed, also while it cannot be listed; undefined = no list is complete, or it does not exist. */
  lastNode(): NodeFacts | undefined {
    return [...this.#nodes.items.values()].find(({ name }) => name === this.#deps.nodeName);
  }

  /** Keeps all of them current until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all.map((cache) => cache.run(signal)));
  }

  #update(isNews: boolean): void {
    this.#ready.check();
    // A list that fails is no change of the policy.
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
