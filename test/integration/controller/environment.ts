import type { Manifest } from '../../sandbox/api/direct-store.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { policyManifest, unheldPods } from '../../manifests.ts';

export const policy = (
  mode: 'DryRun' | 'Enforce',
  pods: object = { terminated: { ttlAfterFinished: '0s' } },
): Manifest => policyManifest('default', { mode, pods: unheldPods(pods) });

/** Finished pods p0000, p0001, … on a node that exists, and the namespace of the lease. */
export function fillCluster(sandbox: Sandbox, count: number): void {
  sandbox.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dustpan-system' } });
  sandbox.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  for (let i = 0; i < count; i++)
    sandbox.store.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `p${String(i).padStart(4, '0')}`, namespace: 'default' },
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Succeeded' },
    });
}

export const podCount = (sandbox: Sandbox): number => sandbox.store.list('Pod').length;

export const conditionOf = (sandbox: Sandbox, type: string): string | undefined => {
  const status = sandbox.store.get('GCPolicy', 'default')?.['status'] as
    { conditions?: { type: string; status: string; reason: string }[] } | undefined;
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason}`;
};
