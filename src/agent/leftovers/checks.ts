import type { Policy } from '../../api/policy/policy.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import type { ContainerdStore } from '../../containerd/store.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { confirmedNode, nodeUnchanged, resultOrError, stopFor } from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { LiveQuery } from '../../gc/live.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import type { RemoverContext } from '../context.ts';
import type { Leftover } from '../../api/leftovers.ts';
import type { LeftoverRemoval } from './facts.ts';
import { findLeftovers, withSizes } from './find.ts';

interface LeftoverSource {
  readonly containerd: Pick<ContainerdClient, 'read' | 'measure'>;
  readonly runtime: Pick<ContainerRuntime, 'checkReady' | 'listContainers' | 'listSandboxes'>;
}

export interface LeftoversContext extends RemoverContext {
  readonly containerd: Pick<ContainerdClient, 'read' | 'measure' | 'deleteLease' | 'abort' | 'collect'>;
}

export interface ListedLeftovers {
  readonly leftovers: readonly Leftover[];
  readonly store: ContainerdStore;
}

/** containerd reads all files of a writable layer to measure it. */
const maxMeasured = 20;

/** Finds the leftovers, with the sizes of their writable layers; undefined = the runtime is not containerd. */
export async function listLeftovers(
  { containerd, runtime }: LeftoverSource,
  now: () => Date,
  signal: AbortSignal,
): Promise<ListedLeftovers | undefined> {
  await runtime.checkReady(signal);
  const store = await containerd.read(signal);
  if (store === undefined) return undefined;
  // After containerd: a sandbox that is made meanwhile is listed.
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(signal),
    runtime.listSandboxes(signal),
  ]);
  const given = { owners: new Set([...containers, ...sandboxes].map(({ id }) => id)), now: now() };
  const { leftovers, unmeasured } = findLeftovers(store, given);
  if (unmeasured.length === 0) return { leftovers, store };
  const sizes = await containerd.measure(unmeasured.slice(0, maxMeasured), signal);
  return { leftovers: findLeftovers(withSizes(store, sizes), given).leftovers, store };
}

/** Conditions that must hold right before a removal. */
export function leftoverChecks(
  context: LeftoversContext,
  policy: Policy,
  began: Moment,
): readonly Check<LeftoverRemoval>[] {
  const { clock, governance, live } = context;
  const node = confirmedNode<LeftoverRemoval>({ confirm: (signal) => live.confirm(signal), policy, clock });
  return [
    nodeUnchanged<LeftoverRemoval>({ governance, clock, policy, began }),
    node.check,
    stillLeft(context),
  ];
}

/** Each removal may change what the others keep, so each has a listing of its own. */
function stillLeft(context: LeftoversContext): Check<LeftoverRemoval> {
  const { clock } = context;
  const live = new LiveQuery<LeftoverRemoval, ListedLeftovers | Error | undefined>({
    clock,
    maxDecisions: 1,
    query: resultOrError((_, signal) => listLeftovers(context, () => clock.now(), signal)),
  });
  return {
    live,
    objection: (removal) => {
      const listed = live.response(removal);
      if (listed instanceof Error) return stopFor(listed);
      if (listed === undefined) return stopFor(new Error('containerd is not read'));
      const { id, leftover } = removal.target;
      const now = listed.leftovers.find((one) => one.id === id);
      if (now === undefined) return { kind: 'gone' };
      const isSame = now.progress === leftover.progress && now.obstacle === undefined;
      return isSame ? undefined : { kind: 'keep', reason: 'InUse' };
    },
  };
}
