import { readFileSync } from 'node:fs';
import type { Cluster, Startable } from '../cluster/servers/cluster.ts';

/** What the kernel says of a process, in the units people compare. */
export interface Usage {
  readonly residentMb: number;
  /** The most that was ever resident (VmHWM). */
  readonly peakMb: number;
  /** User and system time. */
  readonly cpuSeconds: number;
}

/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;
const kibPerMb = 1_000_000 / 1_024;

/** Reads /proc of a process; throws when it is gone. */
export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const field = statOf(pid);
  return {
    residentMb: kib('VmRSS') / kibPerMb,
    peakMb: kib('VmHWM') / kibPerMb,
    cpuSeconds: (field(14) + field(15)) / ticksPerSecond,
  };
}

/** When a process started, as `performance.now()` counts, to a hundredth of a second. */
export function startOf(pid: number): number {
  const [uptimeSeconds = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
  const ageSeconds = Number(uptimeSeconds) - statOf(pid)(22) / ticksPerSecond;
  return performance.now() - ageSeconds * 1_000;
}

/** The fields of proc_pid_stat(5), counted from 1; from the third on. */
function statOf(pid: number): (field: number) => number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second is the command, which may hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (field) => Number(fields[field - 3]);
}

/** Throws when it does not run. */
export function usageOfPart(cluster: Pick<Cluster, 'pid'>, part: Startable): Usage {
  const pid = cluster.pid(part);
  if (pid === undefined) throw new Error(`${part} does not run`);
  return usageOf(pid);
}
