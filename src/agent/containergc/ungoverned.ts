import type { ContainerKeepReason } from '../../api/reasons.ts';
import { keep, type ContainerGcFacts, type ContainerGcPlan } from './facts.ts';
import { logDirectories } from './log-directories.ts';

/** Nothing may be touched on this node: everything stays, for one reason. */
export function keepAllContainers(
  { containers = [], sandboxes = [], logs }: Omit<ContainerGcFacts, 'sightings'>,
  reason: ContainerKeepReason,
): ContainerGcPlan {
  const directories = logs === undefined ? [] : logDirectories(logs);
  return {
    removals: [],
    kept: [
      ...containers.map((container) => keep({ kind: 'container' as const, container }, reason)),
      ...sandboxes.map((sandbox) => keep({ kind: 'sandbox' as const, sandbox }, reason)),
      ...directories.map(({ path, pod, bytes }) =>
        keep({ kind: 'logDirectory' as const, path, pod, links: [] }, reason, { bytes }),
      ),
    ],
  };
}
