import { setTimeout as sleep } from 'node:timers/promises';
import { startAgent } from '../cluster/agent/agent.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import { listContainers } from '../cluster/agent/environment.ts';
import type { Cluster } from '../cluster/servers/cluster.ts';
import { requestsSince } from './agent-api.ts';
import { applyAgentPolicy, type AgentBed } from './agent-bed.ts';
import { memoryOf, type Memory } from './agent-memory.ts';
import { passLoops } from './agent-passes.ts';
import { watchAgent, type Watching } from './agent-watch.ts';
import { usageOf } from './process-usage.ts';

interface AgentOfBench {
  readonly nodeArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The agent with nothing to do, at its own periods, and the kubelet beside it. */
export interface Resting {
  readonly agent: Watching;
  /** Requests to the API server in that time. */
  readonly requests: ReadonlyMap<string, number>;
  readonly kubelet: { readonly memory: Memory; readonly cpuSecondsPerMinute: number };
}

/** As far apart as a Prometheus scrapes. */
const scrapeSeconds = 15;
const settleMs = 20_000;

/** Starts the agent on a policy in DryRun and watches from when it has seen everything. */
export async function measureResting(bed: AgentBed, how: AgentOfBench, minutes: number): Promise<Resting> {
  await applyAgentPolicy(bed, 'DryRun');
  await using agent = await start(bed, how, []);
  await passed(agent);
  // The first report and its echo are not rest.
  await sleep(settleMs);
  const since = new Date();
  const kubelet = kubeletOf(bed.cluster);
  const before = usageOf(kubelet).cpuSeconds;
  const watching = await watchAgent(agent, minutes * 60, scrapeSeconds);
  const used = usageOf(kubelet).cpuSeconds - before;
  return {
    agent: watching,
    requests: await requestsSince(bed.cluster, since),
    kubelet: { memory: memoryOf(kubelet), cpuSecondsPerMinute: (used * 60) / watching.seconds },
  };
}

/** Not multiples of each other, so that few passes meet. */
const quickPeriods = ['--image-gc-period=5s', '--container-gc-period=7s'];
const quickScrapeSeconds = 3;

/** The same with passes every few seconds. */
export async function measureQuick(bed: AgentBed, how: AgentOfBench, minutes: number): Promise<Watching> {
  await applyAgentPolicy(bed, 'DryRun');
  await using agent = await start(bed, how, quickPeriods);
  await passed(agent);
  return await watchAgent(agent, minutes * 60, quickScrapeSeconds);
}

export interface Cleaned {
  readonly images: number;
  readonly containers: number;
  /** From the policy to the last removal. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memory: Memory;
}

const cleanPatienceMs = 600_000;

/** Sets the policy to Enforce under a running agent and follows it until all is gone that may go. */
export async function measureCleaning(bed: AgentBed, how: AgentOfBench): Promise<Cleaned> {
  await applyAgentPolicy(bed, 'DryRun');
  const dead = (await listContainers(bed.cluster)).filter(({ state }) => state === 'CONTAINER_EXITED').length;
  await using agent = await start(bed, how, []);
  await passed(agent);
  const [startMs, cpuBefore] = [performance.now(), usageOf(agent.pid).cpuSeconds];
  await applyAgentPolicy(bed, 'Enforce');
  for (;;) {
    const metrics = await agent.metrics();
    const images = metrics.get('dustpan_image_garbage_collected_total{reason="age"}') ?? 0;
    const containers = metrics.get('dustpan_container_garbage_collected_total{reason="DeadContainer"}') ?? 0;
    if (images >= bed.removableImages && containers >= dead) {
      const [seconds, cpuSeconds] = [(performance.now() - startMs) / 1_000, usageOf(agent.pid).cpuSeconds];
      await sleep(settleMs);
      return { images, containers, seconds, cpuSeconds: cpuSeconds - cpuBefore, memory: memoryOf(agent.pid) };
    }
    if (performance.now() - startMs > cleanPatienceMs)
      throw new Error(`only ${images} images and ${containers} containers went in ${cleanPatienceMs} ms`);
    await sleep(1_000);
  }
}

function start(
  { cluster, env }: AgentBed,
  how: AgentOfBench,
  periods: readonly string[],
): Promise<DustpanProcess> {
  return startAgent(cluster, {
    // As in a pod: a kubeconfig would load the library that reads it.
    args: ['--kubeconfig=', ...periods],
    env: { ...env, ...how.env, KUBECONFIG: '' },
    nodeFlags: how.nodeArgs,
  });
}

/** Each loop that looks at the node has made a pass, and it went well. */
async function passed(agent: DustpanProcess): Promise<void> {
  await agent.ready();
  const count = 'dustpan_loop_passes_total';
  const of = (metrics: ReadonlyMap<string, number>, loop: string): number =>
    metrics.get(`${count}{loop="${loop}",result="success"}`) ?? 0;
  for (;;) {
    const metrics = await agent.metrics();
    if (passLoops.every((loop) => of(metrics, loop) > 0)) return;
    await sleep(1_000);
  }
}

function kubeletOf(cluster: Cluster): number {
  const pid = cluster.pid('kubelet');
  if (pid === undefined) throw new Error('the kubelet does not run');
  return pid;
}
