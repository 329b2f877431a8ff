import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import {
  keep,
  nextPass,
  remove,
  type ContainerGcFacts,
  type Decision,
  type Given,
  type SandboxObject,
} from './facts.ts';
import { byNewest, groupedBy } from './order.ts';
import { holdOf, podUidOf, type Standing } from './pods.ts';

/** The world after the container step. */
interface Left {
  /** undefined = the containers are not known. */
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly standing: (uid: string) => Standing;
}

interface Place extends Left {
  readonly isNewest: boolean;
  /** Ids of sandboxes that a container which stays refers to. */
  readonly inUse: ReadonlySet<string>;
}

/** Decides about each sandbox, oldest first: all inactive ones of a gone pod, all but the newest of any other (upstream.md 3.4). */
export function planSandboxes(
  { sandboxes = [] }: ContainerGcFacts,
  left: Left,
  given: Given,
): readonly Decision<SandboxObject>[] {
  const inUse = new Set(left.containers?.map(({ sandboxId }) => sandboxId));
  const oldestFirst = sandboxes.toSorted(byNewest).reverse();
  const pods = groupedBy(oldestFirst, (sandbox) => podUidOf(sandbox) ?? '');
  return oldestFirst.map((sandbox) => {
    const isNewest = pods.get(podUidOf(sandbox) ?? '')?.at(-1) === sandbox;
    return decide(sandbox, { ...left, inUse, isNewest }, given);
  });
}

function decide(sandbox: RuntimeSandbox, place: Place, given: Given): Decision<SandboxObject> {
  const object: SandboxObject = { kind: 'sandbox', sandbox };
  const uid = podUidOf(sandbox);
  if (!given.policy.sandboxes) return keep(object, 'RuleOff');
  if (sandbox.state === 'Ready') return keep(object, 'Running');
  if (uid === undefined) return keep(object, 'NotKubelets');
  const stands = place.standing(uid);
  const hold = holdOf(stands);
  if (hold !== undefined) return keep(object, hold);
  if (place.containers === undefined) return keep(object, 'ContainersUnknown');
  if (place.inUse.has(sandbox.id)) return keep(object, 'InUse');
  if (stands === 'Gone') return remove(object, 'Sandbox', { because: 'podGone' });
  if (!place.isNewest) return remove(object, 'Sandbox', { because: 'superseded' });
  if (stands === 'Quarantined') return keep(object, 'Quarantined', { eligibleAt: nextPass(given) });
  return keep(object, 'NewestSandbox');
}
