// The process that walks, with the agent's flags of Node: `node … storage-process.mjs FILE`, a file with the walk as JSON; prints what it took as JSON.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { planLocalStorage, staleAfterMs } from '../../src/agent/localstorage/plan.ts';
import type { StoragePod } from '../../src/api/local-storage.ts';
import { statFsReader } from '../../src/node/filesystem.ts';
import { FileUsage } from '../../src/node/storage-source.ts';
import { measure } from '../../src/node/storage-walk.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { usageOf } from './process-usage.ts';
import { volumeName, type StorageTree } from './storage-tree.ts';

/** What is to be walked, and how. */
export interface Walk {
  readonly tree: StorageTree;
  /** The built src/node/storage-worker.ts. */
  readonly workerFile: string;
  /** By the agent's thread and at its pace; else in the main thread, as fast as it goes. */
  readonly isPaced: boolean;
}

/** What a walk took of its process, without the start of Node. */
export interface WalkTook {
  /** Of each volume; -1 = it could not be measured. */
  readonly bytes: readonly number[];
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** Resident right before. */
  readonly restMb: number;
  /** How much later than due the main thread came to do anything; only of a walk in a thread of its own. */
  readonly lag: { readonly p99Ms: number; readonly longestMs: number } | undefined;
  /** Of the agent's decisions on what was found. */
  readonly planMs: number | undefined;
}

const never = new AbortController().signal;
/** A look has to last until all is measured. */
const patienceMs = 60 * 60_000;
const lagResolutionMs = 10;
const nsPerMs = 1e6;
const settleMs = 500;

async function asTheAgent({ tree, workerFile }: Walk): Promise<WalkTook> {
  const log = new RecordingLogger();
  const pods = tree.pods.map(podOf);
  const files = new FileUsage({
    ...{ clock, log, patienceMs, pods: () => pods, statFs: statFsReader() },
    workerFile: pathToFileURL(workerFile),
    roots: { kubelet: tree.kubelet, podLogs: `${tree.kubelet}/no-logs` },
    runtime: {
      listContainers: () => Promise.resolve([]),
      containerStats: () => Promise.resolve([]),
      fileSystems: () => Promise.resolve({ images: [], containers: [] }),
    },
  });
  await clock.sleep(settleMs, never);
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  const end = begin();
  lag.enable();
  const usage = await files.usage(never);
  const took = end();
  lag.disable();
  const startMs = clock.monotonicMs();
  const given = { policy: storagePolicy, now: clock.now(), staleAfterMs };
  planLocalStorage({ pods, usage }, given);
  const planMs = clock.monotonicMs() - startMs;
  await files.close();
  const bytes = tree.pods.map((uid) => usage.pods.get(uid)?.volumes.get(volumeName)?.bytes ?? -1);
  const late = (ns: number): number => Math.max(0, ns / nsPerMs - lagResolutionMs);
  return { bytes, ...took, lag: { p99Ms: late(lag.percentile(99)), longestMs: late(lag.max) }, planMs };
}

function plainly({ tree }: Walk): WalkTook {
  const bounds = { maxEntries: Infinity, pace: () => undefined, mountpoints: new Set<string>() };
  const end = begin();
  const found = tree.volumes.map((volume) => measure(volume, bounds));
  const took = end();
  const bytes = found.map((walked) => (walked.kind === 'measured' ? walked.bytes : -1));
  return { bytes, ...took, lag: undefined, planMs: undefined };
}

/** The function it returns says what it took since. */
function begin(): () => Pick<WalkTook, 'wallSeconds' | 'cpuSeconds' | 'peakMb' | 'restMb'> {
  const { residentMb: restMb } = usageOf(process.pid);
  const [startMs, before] = [clock.monotonicMs(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    const wallSeconds = (clock.monotonicMs() - startMs) / 1_000;
    return { wallSeconds, cpuSeconds: (user + system) / 1e6, peakMb: usageOf(process.pid).peakMb, restMb };
  };
}

const storagePolicy = {
  ...{
    warnAtPercent: [80],
    evictAtPercent: 100,
    respectPodDisruptionBudgets: true,
    gracePeriodSeconds: undefined,
  },
  defaultLimits: { emptyDirBytes: 1e6, podBytes: undefined, containerBytes: undefined },
  usageSource: 'Filesystem' as const,
};

function podOf(uid: string): StoragePod {
  return {
    ...{ uid, name: `pod-${uid}`, namespace: 'bench', phase: 'Running', deletionAtMs: undefined },
    ...{ configHash: undefined, configSource: undefined, priority: undefined, keepMarked: false, images: [] },
    storage: {
      emptyDirs: [{ name: volumeName, isMemory: false, limit: undefined }],
      ...{ containers: [], initContainers: [], overheadBytes: undefined },
    },
  };
}

// Last: what stands below a wait at the top is not there yet.
const walk = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Walk;
process.stdout.write(JSON.stringify(walk.isPaced ? await asTheAgent(walk) : plainly(walk)));
