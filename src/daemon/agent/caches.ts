import type { StoragePod } from '../../api/local-storage.ts';
import { governNode, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { PolicySet, type RankedPolicies } from '../../api/policy/policy-set.ts';
import { nodePodsResource } from '../../kube/cache/node-pods.ts';
import type { Identified, NodeFacts } from '../../kube/cache/objects.ts';
import { Reflector, type ReflectorDeps } from '../../kube/cache/reflector.ts';
import { nodesResource, policiesResource, type Resource } from '../../kube/cache/resources.ts';
import type { Cache } from '../../kube/cache/staleness.ts';
import { Edge } from '../../runtime/scheduling/edge.ts';
import type { Check } from '../../runtime/serving/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

export interface AgentCaches {
  /** The policy that governs the node now; NodeUnknown while a watch does not work or the node does not exist. */
  governance(): NodeGovernance;
  /** All policies; undefined while their watch does not work. */
  policies(): RankedPolicies | undefined;
  /** The pods bound to the node; undefined while their watch does not work. */
  pods(): readonly StoragePod[] | undefined;
  /** undefined while the watch does not work or the node does not exist. */
  node(): NodeFacts | undefined;
  /** The Node as last listed, also while the watch does not work; undefined = no list is complete, or it does not exist. */
  lastNode(): NodeFacts | undefined;
  /** All of them, for metrics and the report. */
  readonly all: readonly Cache[];
  /** One readiness check per cache. */
  readonly checks: readonly Check[];
  /** Keeps all of them current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface AgentCachesDeps extends Omit<ReflectorDeps<Identified>, 'resource' | 'onChange'> {
  readonly nodeName: string;
  /** Called when all caches are synced, for the first time or again, and when policies or the node's policy changed. */
  readonly onNews: () => void;
}

/** The three watches of the agent: all policies, its own node, and the pods bound to it. */
export function agentCaches(deps: AgentCachesDeps): AgentCaches {
  const { nodeName, onNews } = deps;
  const policySet = new PolicySet();
  const policies = watched(deps, policiesResource(), () => {
    const isNews = policySet.update([...policies.items.values()].map(({ object }) => object));
    update(isNews);
  });
  const nodes = watched(deps, nodesResource({ name: nodeName }), () => update(false));
  const pods = watched(deps, nodePodsResource(nodeName), () => update(false));
  const ready = new Edge(() => [policies, nodes, pods].every(({ synced }) => synced), onNews);
  const governor = new Governor(nodeName, deps.log);
  const found = (): NodeFacts | undefined => [...nodes.items.values()].find(({ name }) => name === nodeName);
  const node = (): NodeFacts | undefined => (nodes.synced ? found() : undefined);
  const ranked = (): RankedPolicies | undefined => (policies.synced ? policySet.ranked : undefined);
  const governance = (): NodeGovernance => governNode(ranked(), node());
  const update = (isNews: boolean): void => {
    ready.check();
    // A watch that stops working is no change of the policy.
    const changed = policies.synced && nodes.synced && governor.changed(governance());
    if (changed || isNews) onNews();
  };
  return {
    governance,
    policies: ranked,
    node,
    lastNode: found,
    all: [policies, nodes, pods],
    pods: () => (pods.synced ? [...pods.items.values()] : undefined),
    checks: [
      policies.check('gcpolicies'),
      nodes.check('node', () => (found() === undefined ? `there is no node ${nodeName}` : undefined)),
      pods.check('pods'),
    ],
    run: async (signal) => {
      await Promise.all([policies, nodes, pods].map((one) => one.run(signal)));
    },
  };
}

// One node, its pods, and a few policies: lists that the API server serves to every agent from memory.
const watched = <T extends Identified>(
  deps: AgentCachesDeps,
  resource: Resource<T>,
  onChange: () => void,
): Reflector<T> => new Reflector<T>({ ...deps, resource, onChange, pageSize: 'all' });

/** Logs each change of the policy that governs the node. Use it only while node and policies are known. */
class Governor {
  readonly #nodeName: string;
  readonly #log: Logger;
  #logged = '';

  constructor(nodeName: string, log: Logger) {
    this.#nodeName = nodeName;
    this.#log = log;
  }

  /** Whether the policy, or the reason why there is none, changed since the last call. */
  changed(now: NodeGovernance): boolean {
    const { uid, generation } = now.policy ?? {};
    const key = JSON.stringify([now.kind, now.kind === 'keep' && now.reason, uid, generation]);
    if (key === this.#logged) return false;
    this.#logged = key;
    this.#logChange(now);
    return true;
  }

  #logChange(now: NodeGovernance): void {
    const fields = { node: this.#nodeName, policy: now.policy?.name };
    if (now.kind === 'governed')
      this.#log.info({ ...fields, mode: now.policy.mode }, 'policy governs this node');
    else if (now.reason === 'NodeUnknown')
      this.#log.warn(fields, 'there is no such node, nothing is collected until it appears');
    else this.#log.info({ ...fields, reason: now.reason }, 'nothing is collected on this node');
  }
}
