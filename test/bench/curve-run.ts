import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bed } from './bench-pods.ts';
import { putCanary, startUpstream } from './canary.ts';
import type { UpstreamPoint } from './curve-report.ts';
import { measureAtRest, type AtRest, type NodeRuntime } from './run-dustpan.ts';
import { settled } from './settle.ts';

/** dustpan at rest on what is in the store, from a cold start; undefined when its heap was too small for that. */
export async function measureUnlessHeapDies(
  bed: Bed,
  threshold: number,
  runtime: NodeRuntime,
): Promise<AtRest | undefined> {
  const logFile = join(bed.cluster.dir, 'log/dustpan.log');
  const before = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  try {
    return await measureAtRest(bed, { threshold }, runtime);
  } catch (err) {
    if (isHeapDeath(readFileSync(logFile).subarray(before).toString())) return undefined;
    throw err;
  }
}

/** V8's last words. */
function isHeapDeath(log: string): boolean {
  return log.includes('JavaScript heap out of memory');
}

/** kube-controller-manager until it has seen all pods and done its first pass. */
export async function measureUpstreamStart(bed: Bed): Promise<UpstreamPoint> {
  await putCanary(bed);
  await settled(bed.cluster);
  try {
    const { firstDeleteSeconds, cpuSecondsToFirstDelete, usage } = await startUpstream(bed);
    return {
      peakMb: usage.peakMb,
      secondsToFirstPass: firstDeleteSeconds,
      cpuSecondsToFirstPass: cpuSecondsToFirstDelete,
    };
  } finally {
    await bed.cluster.kill('kcm');
  }
}
