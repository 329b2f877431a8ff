import { readFileSync } from 'node:fs';

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
  // The command may hold spaces and brackets: fields are counted from its closing one.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    residentMb: kib('VmRSS') / kibPerMb,
    peakMb: kib('VmHWM') / kibPerMb,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
  };
}
