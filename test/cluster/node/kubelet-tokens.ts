import type { Cluster } from '../servers/cluster.ts';
import { kubectl } from '../servers/kubectl.ts';

interface KubeletTokens {
  /** Of a service account that may get nodes/stats and nothing else. */
  readonly stats: string;
  /** Of one that may do nothing. */
  readonly nothing: string;
}

/** Tokens of service accounts, as pods have them, for the kubelet's own API. */
export async function kubeletTokens(cluster: Cluster): Promise<KubeletTokens> {
  const subject = '--serviceaccount=default:stats';
  const run = (...args: readonly string[]): Promise<string> => kubectl(cluster, args);
  await run('create', 'serviceaccount', 'stats');
  await run('create', 'serviceaccount', 'nothing');
  await run('create', 'clusterrole', 'stats', '--verb=get', '--resource=nodes/stats');
  await run('create', 'clusterrolebinding', 'stats', '--clusterrole=stats', subject);
  const [stats, nothing] = await Promise.all(
    ['stats', 'nothing'].map(async (name) => (await run('create', 'token', name)).trim()),
  );
  return { stats: stats ?? '', nothing: nothing ?? '' };
}
