import { podRefOf } from '../../api/pod-ref.ts';
import type { ContainerGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import { byNewest, groupedBy } from './order.ts';

type Unit = readonly RuntimeContainer[];
type Limits = Pick<ContainerGcPolicy, 'maxPerPodContainer' | 'maxContainers'>;

/** All attempts of one container of one pod share a unit; newest first. */
export const units = (containers: readonly RuntimeContainer[]): readonly Unit[] =>
  [...groupedBy(containers, unitOf).values()].map((unit) => unit.toSorted(byNewest));

/** Names cannot hold the separator. */
export const unitOf = (container: RuntimeContainer): string => `${podRefOf(container).uid}/${container.name}`;

/**
 * The dead containers that the limits do not leave: first each unit's oldest, then, where all together are too many, what redistribution
 * takes (even if fewer than the limit remain), and at last the oldest of all (`evictContainers`, pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function overLimits(
  dead: readonly RuntimeContainer[],
  { maxPerPodContainer, maxContainers }: Limits,
): ReadonlySet<RuntimeContainer> {
  const perUnit = units(dead).map((unit) => unit.slice(0, maxPerPodContainer));
  const left = new Set(underTotal(perUnit, maxContainers));
  return new Set(dead.filter((container) => !left.has(container)));
}

function underTotal(perUnit: readonly Unit[], limit: number | undefined): readonly RuntimeContainer[] {
  const all = perUnit.flat();
  if (limit === undefined || all.length <= limit) return all;
  const share = Math.max(1, Math.floor(limit / perUnit.length));
  const shared = perUnit.flatMap((unit) => unit.slice(0, share));
  return shared.toSorted(byNewest).slice(0, limit);
}
