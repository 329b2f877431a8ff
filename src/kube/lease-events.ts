import type { LeaseName } from './lease-client.ts';
import type { EventSpec } from './recorder.ts';

/** On the Lease, when this process begins or ends to lead; client-go's words. */
export function leadershipChanged(
  lease: LeaseName & { readonly uid: string },
  { identity, leading }: { readonly identity: string; readonly leading: boolean },
): EventSpec {
  const regarding = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease };
  const about = { regarding, type: 'Normal', reason: 'LeaderElection' } as const;
  return leading
    ? { ...about, action: 'Lead', note: `${identity} became leader` }
    : { ...about, action: 'StopLeading', note: `${identity} stopped leading` };
}
