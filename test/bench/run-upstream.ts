import type { Bed, BenchPods } from './bench-pods.ts';
import { watchClearing, type Clearing } from './watch-collector.ts';

const measuredSeconds = 60;

/** Starts kube-controller-manager, whose threshold was set with the cluster, and follows it for a minute of deleting. */
export async function measureUpstream({ cluster, etcd }: Bed, pods: BenchPods): Promise<Clearing> {
  const startedAtMs = performance.now();
  const starting = cluster.start('kcm');
  try {
    const { clearing } = await watchClearing({
      cluster,
      startedAtMs,
      pid: () => cluster.pid('kcm'),
      countLeft: () => pods.countDue(etcd),
      due: pods.due.length,
      atMostSeconds: measuredSeconds,
    });
    return clearing;
  } finally {
    await starting;
    await cluster.kill('kcm');
  }
}
