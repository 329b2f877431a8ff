import type { ConfirmNode } from '../../api/node-confirmation.ts';
import { governNode } from '../../api/policy/node-governance.ts';
import { PolicySet } from '../../api/policy/policy-set.ts';
import { liveNode, type LiveNodeDeps } from '../../kube/actions/live-node.ts';

/** Reads the node's policy and pods live, not from the caches: a watch may be dead for minutes before that is noticed. */
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
