import type { Cluster } from '../cluster/servers/cluster.ts';
import { usageOfPart } from './process-usage.ts';

/** CPU seconds of the programs that share the machine with a collector; the bench itself is one, which looks on or deletes. */
export interface CpuParts {
  readonly apiServer: number;
  readonly etcd: number;
  readonly bench: number;
}

/** What each has used so far. */
export function cpuParts(cluster: Pick<Cluster, 'pid'>): CpuParts {
  const of = (part: 'api' | 'etcd'): number => usageOfPart(cluster, part).cpuSeconds;
  const { user, system } = process.cpuUsage();
  return { apiServer: of('api'), etcd: of('etcd'), bench: (user + system) / 1e6 };
}

/** What each used between the two. */
export function cpuBetween(before: CpuParts, after: CpuParts): CpuParts {
  return {
    apiServer: after.apiServer - before.apiServer,
    etcd: after.etcd - before.etcd,
    bench: after.bench - before.bench,
  };
}
