import { readFileSync } from 'node:fs';
import { tokenCredentials } from '../../../src/kube/auth/credentials.ts';
import { KubeletUsage } from '../../../src/node/kubelet/source.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import type { Cluster } from '../servers/cluster.ts';
import { kubectl } from '../servers/kubectl.ts';

interface KubeletTokens {
  /** A service account that may only get nodes/stats and nodes/configz. */
  readonly stats: string;
  /** A service account without any right. */
  readonly nothing: string;
}

/** Tokens of service accounts, as pods have them, for the kubelet's own API. */
export async function kubeletTokens(cluster: Cluster): Promise<KubeletTokens> {
  const subject = '--serviceaccount=default:stats';
  const run = (...args: readonly string[]): Promise<string> => kubectl(cluster, args);
  await run('create', 'serviceaccount', 'stats');
  await run('create', 'serviceaccount', 'nothing');
  await run('create', 'clusterrole', 'stats', '--verb=get', '--resource=nodes/stats,nodes/configz');
  await run('create', 'clusterrolebinding', 'stats', '--clusterrole=stats', subject);
  const [stats, nothing] = await Promise.all(
    ['stats', 'nothing'].map(async (name) => (await run('create', 'token', name)).trim()),
  );
  return { stats: stats ?? '', nothing: nothing ?? '' };
}
/** The node's kubelet as the agent reads it. */
export function kubeletOf(cluster: Cluster, token: string): KubeletUsage {
  const { name: nodeName, address } = cluster.node;
  const tls = { ca: readFileSync(cluster.caFile) };
  return new KubeletUsage({
    endpoint: `https://${address}:10250`,
    nodeName,
    clock: systemClock,
    cluster: { endpoint: { server: '', tls }, auth: tokenCredentials(token), source: 'test' },
    trust: { isInsecure: false, caFile: undefined, ownFile: '' },
  });
}
