import type { Clock } from '../../runtime/scheduling/clock.ts';
import { stallGuard } from '../http/abort.ts';
import { readAll } from '../cache/list-watch.ts';
import { readPolicies, type LivePolicies } from './live-policies.ts';
import { nodePodsResource, type NodePodFacts } from '../cache/node-pods.ts';
import type { NodeFacts } from '../cache/objects.ts';
import { nodesResource } from '../cache/resources.ts';
import type { KubeTransport } from '../http/transport.ts';

/** A node as the API server has it now, with the policies and the pods bound to it. */
interface LiveNode {
  readonly policies: LivePolicies;
  /** undefined = there is no such node. */
  readonly node: NodeFacts | undefined;
  readonly pods: readonly NodePodFacts[];
}

export interface LiveNodeDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** For all of it: what is read right before an act must not take long. */
const timeoutMs = 10_000;

/** Reads a node past every cache of ours, all at once; rejects when any of it cannot be read whole. */
export function liveNode(deps: LiveNodeDeps): (signal: AbortSignal) => Promise<LiveNode> {
  const { transport, clock, nodeName } = deps;
  const [nodes, podsOfNode] = [nodesResource({ name: nodeName }), nodePodsResource(nodeName)];
  return async (signal) => {
    const guard = stallGuard(clock, timeoutMs, signal);
    try {
      const [policies, found, pods] = await Promise.all([
        readPolicies(transport, guard.signal),
        readAll(transport, nodes, guard.signal),
        readAll(transport, podsOfNode, guard.signal),
      ]);
      return { policies, node: found.find(({ name }) => name === nodeName), pods };
    } catch (err) {
      throw guard.stalled() ? new Error(`no answer of the API server within ${timeoutMs / 1000} s`) : err;
    } finally {
      guard.stop();
    }
  };
}
