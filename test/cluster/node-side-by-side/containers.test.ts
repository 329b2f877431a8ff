// @bed node
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { busyboxImage } from '../node/image.ts';
import { quickPeriods } from '../programs/kubelet-quick.ts';
import { applyNodesPolicy, startCollecting, startNode } from './side-by-side.ts';
import {
  containerHistory,
  deletePods,
  evictAndLeave,
  leaveDeviations,
  makeRemains,
  overfill,
  remainsOf,
} from './containers.ts';
import { startOtherKubelet } from './kubelet.ts';
import { keepingContainers } from '../agent/environment.ts';
import { passesOf } from '../servers/dustpan-process.ts';
import { settled, waitUntil } from '../servers/waiting.ts';

/** The same as the kubelet's flags; -1 = no limit. */
interface Limits {
  readonly name: string;
  readonly perContainer: number;
  readonly total: number;
  readonly minimumAge: string;
}

const limits = (name: string, values: Partial<Limits>): Limits => ({
  ...{ name, perContainer: 1, total: -1, minimumAge: '0s' },
  ...values,
});
const three = limits('three of each container', { perContainer: 3 });
const fourteen = limits('fourteen of all, which is two of each', { perContainer: 3, total: 14 });
const tooYoung = limits('one of each, none old enough', { minimumAge: '24h' });
const one = limits('one of each container', {});
const evicted = limits('one of each, after an eviction', {});
const oneOfAll = limits('one of all', { total: 1 });
const none = limits('none', { perContainer: 0 });
const afterAll = limits("one of each, what is not the kubelet's too", {});

const flagsOf = ({ perContainer, total, minimumAge }: Limits): readonly string[] => [
  `--maximum-dead-containers-per-container=${perContainer}`,
  `--maximum-dead-containers=${total}`,
  `--minimum-container-ttl-duration=${minimumAge}`,
];
const policyOf = ({ perContainer, total, minimumAge }: Limits): object => ({
  containerGC: { maxPerPodContainer: perContainer, maxContainers: total, minimumAge, logs: {} },
});

const history = containerHistory(1);

interface Side {
  /** Collects under these limits and returns the remains; `meanwhile` runs during the collection. */
  readonly collect: (given: Limits, meanwhile?: () => Promise<unknown>) => Promise<readonly string[]>;
  /** The pod `evicted` is evicted. */
  readonly evict: () => Promise<unknown>;
}

interface Played {
  readonly before: readonly string[];
  /** The remains under these limits. */
  after(given: Limits): readonly string[];
}

/** Each step begins with the remains of the one before. */
async function play(cluster: Cluster, { collect, evict }: Side): Promise<Played> {
  const before = await remainsOf(cluster);
  const left = new Map<string, readonly string[]>();
  const step = async (given: Limits): Promise<void> => void left.set(given.name, await collect(given));
  for (const given of [three, fourteen]) await step(given);
  await deletePods(cluster, ['failed']);
  for (const given of [tooYoung, one]) await step(given);
  left.set(evicted.name, await collect(evicted, evict));
  for (const given of [oneOfAll, none]) await step(given);
  await leaveDeviations(cluster);
  await step(afterAll);
  return { before, after: ({ name }) => left.get(name) ?? [] };
}

async function startWithRemains(): Promise<Cluster> {
  const cluster = await startNode({ images: [busyboxImage], kubelet: { args: keepingContainers } });
  await makeRemains(cluster, history);
  return cluster;
}

async function underKubelet(): Promise<Played> {
  await using cluster = await startWithRemains();
  const collect: Side['collect'] = async (given, meanwhile) => {
    const kubelet = await startOtherKubelet(cluster, flagsOf(given));
    try {
      await meanwhile?.();
      // It removes the log of a deleted pod as soon as it knows all pods, which takes its time on a busy machine.
      if (given === tooYoung)
        await waitUntil(
          'the kubelet to remove the log of the pod failed',
          async () => !(await remainsOf(cluster)).includes('link failed_default_main'),
        );
      // The kubelet first lists its pods, up to two seconds after its start.
      return await settled(() => remainsOf(cluster), 2_000 + 5 * quickPeriods.containerGcMs);
    } finally {
      await kubelet.kill();
    }
  };
  return await play(cluster, { collect, evict: () => overfill(cluster) });
}

interface OurSide extends Played {
  /** The remains of the evicted pod. */
  readonly ofEvicted: readonly string[];
}

async function underDustpan(): Promise<OurSide> {
  await using cluster = await startWithRemains();
  await using agent = await startCollecting(cluster, {});
  const collect: Side['collect'] = async (given, meanwhile) => {
    await meanwhile?.();
    await applyNodesPolicy(cluster, policyOf(given));
    // A deleted pod must be missing in two passes; the first may not have the policy yet.
    await passesOf(agent, 'containergc', 4, ['success']);
    return await remainsOf(cluster);
  };
  let ofEvicted: readonly string[] = [];
  const evict = async (): Promise<void> => void (ofEvicted = await evictAndLeave(cluster));
  return { ...(await play(cluster, { collect, evict })), ofEvicted };
}

/** Lines of the first list that the second lacks. */
function beyond(some: readonly string[], others: readonly string[]): readonly string[] {
  const rest = [...others];
  return some.filter((line) => {
    const index = rest.indexOf(line);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

describe('the same containers, sandboxes and logs under the kubelet and under dustpan', () => {
  let theirs: Played;
  let ours: OurSide;

  beforeAll(async () => {
    theirs = await underKubelet();
    ours = await underDustpan();
  }, 1_200_000);

  test('both begin with the same', () => {
    expect(ours.before).toEqual(theirs.before);
    expect(ours.before.length).toBeGreaterThan(80);
  });

  test.each([three, fourteen, one, evicted])('the same are left: $name', (given) => {
    expect(ours.after(given)).toEqual(theirs.after(given));
  });

  test('nothing remains of an evicted pod, or of one whose object only a finalizer holds', () => {
    expect(ours.ofEvicted).toEqual([
      'container evicted/main#0 EXITED',
      'link evicted_default_main',
      'log default_evicted/',
      'log default_evicted/main/0.log',
      'sandbox evicted#0 SANDBOX_NOTREADY',
    ]);
    expect(ours.before).toContain('container held/main#0 EXITED');
    for (const left of [theirs.after(evicted), ours.after(evicted)])
      expect(left.filter((line) => /evicted|held/.test(line))).toEqual([]);
  });

  const neededByStarted = [
    'container started/init#0 EXITED',
    'link started_default_init',
    'log default_started/init/0.log',
  ];

  test.each([oneOfAll, none])(
    'dustpan keeps the newest attempt in a pod that has not finished, as docs/deviations.md says: $name',
    (given) => {
      expect(beyond(ours.after(given), theirs.after(given))).toEqual(neededByStarted);
      expect(beyond(theirs.after(given), ours.after(given))).toEqual([]);
    },
  );

  test('another limit keeps others: the comparison detects a difference', () => {
    const containers = beyond(ours.after(three), theirs.after(fourteen)).filter((line) =>
      line.startsWith('container'),
    );
    expect(containers).toEqual([
      'container finishing-0/main#1 EXITED',
      'container looping-0/main#1 EXITED',
      'container looping-1/main#0 EXITED',
    ]);
    expect(beyond(theirs.after(one), ours.after(none))).toContain('container finishing-0/main#3 EXITED');
  });

  test('dustpan applies the minimum age to all, and keeps a log as long as its container, as docs/deviations.md says', () => {
    const kept = beyond(ours.after(tooYoung), theirs.after(tooYoung));
    expect(kept).toEqual(
      expect.arrayContaining([
        'container finishing-0/main#2 EXITED',
        'container looping-0/main#2 EXITED',
        'link failed_default_main',
        'log default_failed/main/0.log',
      ]),
    );
    expect(kept).not.toContain('container failed/main#0 EXITED'); // both keep it
    expect(beyond(theirs.after(tooYoung), ours.after(tooYoung))).toEqual([]);
  });

  test('dustpan keeps running containers and those that the kubelet did not create, as docs/deviations.md says', () => {
    const kept = beyond(ours.after(afterAll), theirs.after(afterAll));
    expect(kept).toEqual([
      'container by-hand/main#0 EXITED',
      'container started/init#0 EXITED',
      'container started/main#0 RUNNING',
      'link started_default_init',
      'link started_default_main',
      'log default_started/',
      'log default_started/init/0.log',
      'log default_started/main/0.log',
      'log notes/',
      'log notes/main/0.log',
      'sandbox by-hand#0 SANDBOX_NOTREADY',
      'sandbox started#0 SANDBOX_READY',
    ]);
    expect(beyond(theirs.after(afterAll), ours.after(afterAll))).toEqual([]);
  });
});
