import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { dustpanUser, startController } from '../controller/dustpan.ts';
import { etcdClient } from '../servers/etcd.ts';
import { isFinished, openLedger, type Ledger, type PodRecord } from './ledger.ts';
import { loadPopulation, type Population } from '../population/population.ts';
import { policyManifest } from '../../manifests.ts';
import { apply } from '../servers/kubectl.ts';

/** One collector at work in a cluster of its own. */
interface Side {
  readonly cluster: Cluster;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

/** The same population under upstream's collector and under dustpan. */
interface Sides extends AsyncDisposable {
  readonly upstream: Side;
  readonly dustpan: Side;
}

interface Experiment {
  readonly population: Population;
  /** `--terminated-pod-gc-threshold`. */
  readonly threshold: number;
  /** The policy's, where it is to be another one. */
  readonly ourThreshold?: number;
}

/** Starts two clusters with one population and both collectors. */
export async function startSides(experiment: Experiment): Promise<Sides> {
  const [upstream, dustpan] = await Promise.all([startUpstream(experiment), startOurs(experiment)]);
  return {
    upstream,
    dustpan,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([upstream.stop(), dustpan.stop()]);
    },
  };
}

const startTimeoutMs = 150_000;

async function startUpstream({ population, threshold }: Experiment): Promise<Side> {
  const cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm'],
    kcm: {
      controllers: 'pod-garbage-collector-controller',
      args: [`--terminated-pod-gc-threshold=${threshold}`],
    },
    timeoutMs: startTimeoutMs,
  });
  // With half of the population, the threshold would keep too many.
  await cluster.kill('kcm');
  await loadPopulation(etcdClient(cluster.etcdUrl), population);
  const ledger = await openLedger(cluster);
  await cluster.start('kcm');
  return sideOf(cluster, ledger);
}

async function startOurs({ population, threshold, ourThreshold = threshold }: Experiment): Promise<Side> {
  const cluster = await startCluster({
    parts: ['etcd', 'api'],
    crds: true,
    users: [dustpanUser],
    timeoutMs: startTimeoutMs,
  });
  await loadPopulation(etcdClient(cluster.etcdUrl), population);
  await applyPolicy(cluster, ourThreshold);
  const ledger = await openLedger(cluster);
  const dustpan = await startController(cluster, { args: ['--pod-gc-period=2s', '--v=4'] });
  return sideOf(cluster, ledger, () => dustpan.stop());
}

function sideOf(cluster: Cluster, ledger: Ledger, stopCollector?: () => Promise<void>): Side {
  const stop = async (): Promise<void> => {
    await stopCollector?.();
    ledger.close();
    await cluster.stop();
  };
  return { cluster, ledger, stop };
}

/** Writes the policy that equals upstream: all four rules, neither circuit breaker nor hold. */
export async function applyPolicy(cluster: Cluster, threshold: number): Promise<void> {
  const policy = policyManifest('as-upstream', {
    mode: 'Enforce',
    pods: {
      terminated: { threshold },
      outOfService: {},
      orphaned: { quarantine: '40s' },
      unscheduledTerminating: {},
      safety: { maxOrphanedNodesPercent: 100, holdAbove: 0 },
    },
  });
  await apply(cluster, policy);
}

interface Patience {
  /** Not before this long after the call. */
  readonly afterMs: number;
  /** Without a change on any side. */
  readonly quietMs: number;
  readonly withinMs: number;
}

/** Resolves when all sides have come to rest. */
export async function rest(sides: readonly Side[], { afterMs, quietMs, withinMs }: Patience): Promise<void> {
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  const isQuiet = ({ ledger }: Side): boolean => ledger.quietForMs() >= quietMs;
  const isCurrent = async (): Promise<boolean> =>
    (await Promise.all(sides.map(({ ledger }) => ledger.isCurrent()))).every(Boolean);
  while (elapsedMs() < afterMs || !sides.every(isQuiet) || !(await isCurrent())) {
    if (elapsedMs() > withinMs) throw new Error(`the collectors did not come to rest in ${withinMs} ms`);
    await sleep(200);
  }
}

/** One line for each pod that the two sides do not agree about. */
export function differences({ upstream, dustpan }: Sides): readonly string[] {
  const uids = new Set([...upstream.ledger.pods.keys(), ...dustpan.ledger.pods.keys()]);
  return [...uids].flatMap((uid) => {
    const theirs = upstream.ledger.pods.get(uid) ?? unknownPod;
    const ours = dustpan.ledger.pods.get(uid) ?? unknownPod;
    return theirs.state === ours.state
      ? []
      : [`${theirs.name} ${uid}: upstream ${theirs.state}, dustpan ${ours.state}`];
  });
}

const unknownPod: PodRecord = { name: '', deleted: true, phase: '', held: false, state: 'never seen' };

/** A side's remaining and deleted pods by name. */
export function podsOf({
  ledger,
}: Side): Readonly<Record<'deleted' | 'there' | 'counted' | 'terminating', string[]>> {
  const names = (is: (pod: PodRecord) => boolean): string[] =>
    [...ledger.pods.values()]
      .filter(is)
      .map(({ name }) => name.split('/')[1] ?? '')
      .sort();
  return {
    deleted: names(({ deleted }) => deleted),
    there: names(({ deleted }) => !deleted),
    counted: names(({ deleted, phase, held }) => !deleted && isFinished(phase) && !held),
    terminating: names(({ deleted, state }) => !deleted && state.includes('terminating')),
  };
}

/** The number of delete requests for each pod, successful or not. */
export async function deletesOf({ cluster }: Side): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { objectRef } of await cluster.audit({ verb: 'delete' })) {
    if (objectRef?.resource !== 'pods') continue;
    counts.set(objectRef.name ?? '', (counts.get(objectRef.name ?? '') ?? 0) + 1);
  }
  return counts;
}
