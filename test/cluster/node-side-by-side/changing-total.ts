import { setTimeout as sleep } from 'node:timers/promises';
import { statfsSync, type StatsFs } from 'node:fs';
import { expect } from 'vitest';
import type { ThresholdSignal } from '../../../src/api/node-pressure.ts';
import { startAgent } from '../agent/agent.ts';
import { agentEvents, applyPolicy, dueInDryRun, measuring, startQuietNode } from '../agent/environment.ts';
import { createOverruns, podEvents } from '../local-storage/pods.ts';
import { busyboxImage } from '../node/image.ts';
import { eventually } from '../servers/waiting.ts';

/** The node's disk. */
export const disk = '/var/lib';

/** A disk whose total changes with what is available. */
interface ChangingTotal {
  readonly signal: ThresholdSignal;
  readonly threshold: string;
  /** Makes less available than the threshold. */
  readonly fill: () => void;
  /** Changes the total a little; called once a second. */
  readonly change: (second: number) => void;
  readonly total: () => number;
}

const patient = { ...eventually, timeout: 240_000 };
/** The kubelet gives much more time, so that the node is seen before it evicts. */
const [ours, kubelets] = ['20s', '90s'];
const off = Object.fromEntries(
  [
    'nodefs.available',
    'nodefs.inodesFree',
    'imagefs.available',
    'imagefs.inodesFree',
    'memory.available',
  ].map((signal) => [signal, '0%']),
);

/** Judges a node in a dry run, while its kubelet has the same threshold: both find a pod to evict, although the total is never the same. */
export async function judgedAlike({ signal, threshold, fill, change, total }: ChangingTotal): Promise<void> {
  await using cluster = await startQuietNode({
    pinnedImages: [busyboxImage],
    config: {
      ...measuring,
      ...{ evictionSoft: { [signal]: threshold }, evictionSoftGracePeriod: { [signal]: kubelets } },
      evictionMaxPodGracePeriod: 2,
    },
  });
  await applyPolicy(cluster, 'DryRun', {
    nodePressure: { thresholds: { ...off, [signal]: threshold }, gracePeriod: ours, evictPods: true },
  });
  await using agent = await startAgent(cluster, { args: ['--local-storage-period=2s'] });
  await agent.ready();
  const files = 'i=0; while [ $i -lt 2000 ]; do echo x >/a/$i; i=$((i+1)); done';
  const script = `dd if=/dev/zero of=/a/x bs=1048576 count=70 2>/dev/null; ${files}`;
  await createOverruns(cluster, { writer: { emptyDirs: { a: '' }, main: { script } } });
  // The kubelet measures the pod before the disk is low.
  await sleep(20_000);
  fill();
  const totals = new Set<number>();
  let seconds = 0;
  const changing = setInterval(() => {
    change(seconds++);
    totals.add(total());
  }, 1_000);
  try {
    await expect.poll(() => dueInDryRun(agent, 'nodepressure', signal), patient).toBe(1);
    const warned = (await agentEvents(cluster)).filter(({ reason }) => reason === 'NodePressureAhead');
    expect(warned.map(({ note }) => note)).toContainEqual(expect.stringContaining(`(${signal})`));
    const evicted = async (): Promise<readonly string[]> =>
      (await podEvents(cluster, 'Evicted')).map(({ pod }) => pod);
    await expect.poll(evicted, patient).toContain('writer');
  } finally {
    clearInterval(changing);
  }
  expect(totals.size).toBeGreaterThan(3);
}

export const statsOf = (): StatsFs => statfsSync(disk);
