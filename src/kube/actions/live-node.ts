import type { Clock } from '../../runtime/scheduling/clock.ts';
import { deadlineAfter } from '../http/abort.ts';
import { readAll } from '../cache/list-watch.ts';
import { readPolicies, type LivePolicies } from './live-policies.ts';
import { nodePodsResource, type NodePodFacts } from '../cache/node-pods.ts';
import type { NodeFacts } from '../cache/objects.ts';
import { nodesResource } from '../cache/resources.ts';
import type { KubeTransport } from '../http/transport.ts';

/** A node, the policies and the pods bound to the node, read live from the API server. */
interface LiveNode {
  readonly policies: LivePolicies;
  /** undefined = the node does not exist. */
  readonly node: NodeFacts | undefined;
  readonly pods: readonly NodePodFacts[];
}

export interface LiveNodeDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** For all requests together: the caller waits for them right before an action. */
const timeoutMs = 10_000;

/** Reads everything at once, never from a cache. Rejects if any part cannot be read completely. */
export function liveNode(deps: LiveNodeDeps): (signal: AbortSignal) => Promise<LiveNode> {
  const { transport, clock, nodeName } = deps;
  const [nodes, podsOfNode] = [nodesResource({ name: nodeName }), nodePodsResource(nodeName)];
  return async (signal) => {
    const late = (): Error => new Error(`no response of the API server within ${timeoutMs / 1000} s`);
    const deadline = deadlineAfter(clock, timeoutMs, late, signal);
    try {
      const [policies, found, pods] = await Promise.all([
        readPolicies(transport, deadline.signal),
        readAll(transport, nodes, deadline.signal),
        readAll(transport, podsOfNode, deadline.signal),
      ]);
      return { policies, node: found.find(({ name }) => name === nodeName), pods };
    } finally {
      deadline.stop();
    }
  };
}
