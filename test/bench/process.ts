import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Memory and CPU time of a process, as the kernel counts them. */
export interface Usage {
  readonly residentMiB: number;
  /** The maximum since the process started (VmHWM). */
  readonly peakMiB: number;
  /** User and system time. */
  readonly cpuSeconds: number;
}

/** Clock ticks per second in /proc: 100 on every Linux that Node supports. */
const ticksPerSecond = 100;
const kibPerMiB = 1_024;

/** Reads /proc of a process; throws if it does not run. */
export function usageOf(pid: number | undefined): Usage {
  if (pid === undefined) throw new Error('the process does not run');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / kibPerMiB;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command, which may contain spaces and brackets. proc_pid_stat(5) counts from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = (number: number): number => Number(fields[number - 3]);
  return {
    residentMiB: mebibytes('VmRSS'),
    peakMiB: mebibytes('VmHWM'),
    cpuSeconds: (ticks(14) + ticks(15)) / ticksPerSecond,
  };
}

/** Takes a sample now, and then one per interval until the work is done. */
export async function sampled<T, S>(
  work: Promise<T>,
  everyMs: number,
  take: () => S | Promise<S>,
): Promise<{ readonly result: T; readonly samples: readonly [S, ...S[]] }> {
  let isDone = false;
  const running = work.finally(() => (isDone = true));
  const sample = async (): Promise<[S, ...S[]]> => {
    const samples: [S, ...S[]] = [await take()];
    while (!isDone) {
      await sleep(everyMs);
      samples.push(await take());
    }
    return samples;
  };
  const [result, samples] = await Promise.all([running, sample()]);
  return { result, samples };
}
