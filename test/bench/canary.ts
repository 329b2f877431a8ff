import { etcdEntry, etcdKey } from '../cluster/servers/etcd-objects.ts';
import type { Bed } from './bench-pods.ts';
import { watchClearing, type Clearing } from './watch-collector.ts';

const canary = { namespace: 'bench-00', name: 'canary' } as const;

/**
 * A pod that is being deleted and was never scheduled, which a pod garbage collector removes in its first pass whatever its threshold:
 * so that its first pass is seen in the store, without its own word.
 */
export async function putCanary({ etcd }: Pick<Bed, 'etcd'>): Promise<void> {
  const metadata = {
    ...canary,
    uid: '00000000-0000-4000-8000-00000000cafe',
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-01T00:01:00Z',
    deletionGracePeriodSeconds: 30,
  };
  const spec = { containers: [{ name: 'main', image: 'registry.example.com/canary:1' }] };
  await etcd.put([etcdEntry({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Failed' } })]);
}

const patienceSeconds = 300;

/** Starts kube-controller-manager, put beside a canary, and resolves when that is gone: it has all pods then. It goes on. */
export async function startUpstream({ cluster, etcd }: Pick<Bed, 'cluster' | 'etcd'>): Promise<Clearing> {
  const startedAtMs = performance.now();
  const [{ clearing }] = await Promise.all([
    watchClearing({
      cluster,
      startedAtMs,
      pid: () => cluster.pid('kcm'),
      countLeft: () => etcd.count(etcdKey('Pod', canary)),
      due: 1,
      atMostSeconds: patienceSeconds,
    }),
    cluster.start('kcm'),
  ]);
  return clearing;
}
