import type { ConfirmNode } from '../../api/node-confirmation.ts';
import { governNode } from '../../api/policy/node-governance.ts';
import { PolicySet } from '../../api/policy/policy-set.ts';
import { liveNode, type LiveNodeDeps } from '../../kube/actions/live-node.ts';

/** What the API server says of the node now, past the caches: a watch may hide for minutes that it is dead. */
export function nodeConfirmation(deps: LiveNodeDeps): ConfirmNode {
  const read = liveNode(deps);
  return async (signal) => {
    const { policies, node, pods } = await read(signal);
    const live = new PolicySet();
    live.update(policies.objects);
    const { serverTime } = policies;
    return {
      governance: governNode(live.ranked, node),
      pods,
      clockSkewMs: serverTime === undefined ? 0 : deps.clock.now().getTime() - serverTime.getTime(),
    };
  };
}
