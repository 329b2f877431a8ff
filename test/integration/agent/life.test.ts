import { readFileSync } from 'node:fs';
import { expect, test as sequential, type TestContext } from 'vitest';
import type { Flavour } from '../../sandbox/cri/flavour.ts';
import { AgentEnvironment, nodesPolicy, type RunningAgent } from './environment.ts';
import { until } from '../built.ts';

// They wait for passes and reports, each on a node of its own.
const test = sequential.concurrent;

const runtimes: readonly Flavour[] = ['containerd', 'cri-o'];

const ready = `[+]ping ok
[+]gcpolicies-synced ok
[+]node-synced ok
[+]pods-synced ok
[+]rights ok
[+]runtime ok
[+]state-dir ok
readyz check passed
`;

const collectAll = {
  imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '0s', maximumAge: '1s' },
  containerGC: { maxPerPodContainer: 1 },
};

/** Waits until so many passes of the units have been planned since now. */
async function morePasses(agent: RunningAgent, count: number): Promise<void> {
  const enough = agent.timesLogged('planned pass') + count;
  await until('passes were made', () => agent.timesLogged('planned pass') >= enough);
}

test('is ready when all its dependencies are, reports, and stops', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const agent = bed.startAgent();
  await until('it is ready', async () => (await agent.page('health', '/readyz?verbose')) === ready);
  expect(await agent.page('health', '/healthz?verbose')).toContain('[+]containergc ok\n[+]imagegc ok\n');
  await until('a report', () => bed.condition('Ready') === 'True NoPolicy');
  const hasPassed = (unit: string) => bed.report()?.units?.some(({ name }) => name === unit) === true;
  await until('both units passed', () => ['containergc', 'imagegc'].every(hasPassed));
  const metrics = await agent.page('metrics', '/metrics');
  expect(metrics).toContain('dustpan_build_info{');
  expect(metrics).toContain('dustpan_runtime_operations_total{operation_type="version"} ');
  expect(metrics).toContain('dustpan_loop_passes_total{loop="imagegc",result="success"} ');
  expect(await agent.stop()).toBe(0);
  expect(agent.stderr).toBe('');
});

const running = 'registry.example.com/app:v1';
const starting = 'registry.example.com/starting:v1';
const unused = 'registry.example.com/unused:v1';
const pinned = 'registry.example.com/pinned:v1';

/** A node with a running pod, dead containers, a deleted pod, and images. */
async function nodeWithGarbage(
  context: Pick<TestContext, 'onTestFailed'>,
  flavour: Flavour,
): Promise<AgentEnvironment> {
  const bed = await AgentEnvironment.open(context, {}, { flavour });
  const { runtime } = bed.cri;
  runtime.addImage({ tags: [starting] });
  runtime.addImage({ tags: [unused] });
  runtime.addImage({ tags: [pinned], pinned: true });
  const { sandbox } = runtime.runPod({
    name: 'web',
    containers: [
      { name: 'main', image: running, state: 'Exited', attempt: 0, log: 'first' },
      { name: 'main', image: running, state: 'Exited', attempt: 1, log: 'second' },
      { name: 'main', image: running, attempt: 2, log: 'third' },
    ],
  });
  const gone = runtime.runPod({
    name: 'gone',
    containers: [{ name: 'old', image: running, state: 'Exited', log: 'bye' }],
  });
  gone.sandbox.ready = false;
  bed.apiPod('web', { uid: sandbox.uid, image: running, phase: 'Running' });
  bed.apiPod('soon', { uid: 'uid-soon', image: starting, phase: 'Pending' });
  return bed;
}

const tagsOf = ({ cri }: AgentEnvironment): string[] =>
  cri.runtime.images.all.flatMap(({ tags }) => [...tags]).toSorted();
const containersOf = ({ cri }: AgentEnvironment): string[] =>
  cri.runtime.containers.map(({ name, attempt, state }) => `${name} ${attempt} ${state}`).toSorted();

test.for(runtimes)(
  '%s: no policy, DryRun and a node with the label gc.dustpan.dev/keep: nothing is removed',
  async (flavour, context) => {
    await using bed = await nodeWithGarbage(context, flavour);
    const agent = bed.startAgent(['--v=4']);
    await until('it is logged', () => agent.timesLogged('nothing is collected on this node') === 1);
    bed.api.store.apply(nodesPolicy('DryRun', collectAll));
    await until(
      'would remove',
      () => agent.timesLogged('would remove image') > 0 && agent.timesLogged('would remove container') > 0,
    );
    // The first report may be older than the pass that knows the age of the image.
    await until('reported', () => bed.report()?.images?.removable?.count === 1);
    expect(bed.condition('Ready')).toBe('True AsPlanned');
    expect(bed.report()).toMatchObject({ images: { total: { count: 4 } } });
    bed.node({ 'gc.dustpan.dev/keep': 'true' });
    await until('it is logged', () => agent.lines.some(({ reason }) => reason === 'KeepMarked'));
    bed.api.store.apply(nodesPolicy('Enforce', collectAll));
    await morePasses(agent, 4);
    expect(bed.cri.changes).toEqual([]);
  },
);

test.for(runtimes)(
  '%s: Enforce: garbage is removed, objects in use, starting or pinned stay; the next agent continues the totals',
  async (flavour, context) => {
    await using bed = await nodeWithGarbage(context, flavour);
    bed.api.store.apply(nodesPolicy('Enforce', collectAll));
    const agent = bed.startAgent(['--v=4']);
    await until('the unused image is removed', () => !tagsOf(bed).includes(unused));
    await until('the deleted pod is collected', () => containersOf(bed).length === 2);
    await morePasses(agent, 4);
    expect(tagsOf(bed)).toEqual([pinned, running, starting].toSorted());
    expect(containersOf(bed)).toEqual(['main 1 Exited', 'main 2 Running']);
    expect(await agent.sample('dustpan_image_garbage_collected_total{reason="age"}')).toBe(1);
    await until('reported', () => bed.condition('Ready') === 'True AsPlanned');
    expect(agent.stdout).not.toContain('    at ');
    expect(agent.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await agent.stop()).toBe(0);
    const before = bed.report();
    // Its first pass may be later than this agent lives.
    const collectors = () => bed.report()?.units?.filter(({ name }) => name !== 'leftovers');
    expect(collectors()?.map(({ name }) => name)).toEqual(['containergc', 'imagegc']);
    const totals = collectors()?.map(({ removedTotal, totalsSince }) => ({ removedTotal, totalsSince }));
    const removed = before?.containers?.lastRemoved;
    expect(removed?.find(({ name }) => name === 'old')).toMatchObject({
      kind: 'Container',
      pod: { namespace: 'default', name: 'gone' },
      reason: 'PodGone',
      policy: 'default',
    });
    const next = bed.startAgent(['--v=4']);
    await morePasses(next, 2);
    expect(await next.stop()).toBe(0);
    expect(totals).not.toContainEqual({ removedTotal: 0 });
    expect(collectors()).toMatchObject(totals ?? []);
    expect(bed.report()?.containers?.lastRemoved).toEqual(removed);
  },
);

test.for(runtimes)(
  '%s: SIGKILL during a pass, then a new agent: the history continues',
  async (flavour, context) => {
    await using bed = await nodeWithGarbage(context, flavour);
    bed.cri.faults.next('RemoveImage', { kind: 'hang' }, Infinity);
    bed.api.store.apply(nodesPolicy('Enforce', collectAll));
    const first = bed.startAgent();
    await until('a removal hangs', () => bed.cri.calls.some(({ method }) => method === 'RemoveImage'));
    const detected = (): ReadonlyMap<string, string> => {
      const text = readFileSync(`${bed.path('state')}/state.json`, 'utf8');
      const { images } = JSON.parse(text) as { images: Record<string, { firstDetected: string }> };
      return new Map(Object.entries(images).map(([id, { firstDetected }]) => [id, firstDetected]));
    };
    first.kill('SIGKILL');
    expect(await first.ended()).toBe('SIGKILL');
    const known = detected();
    expect(known.size).toBe(4);
    bed.cri.faults.clear();

    bed.startAgent();
    await until('the unused image is removed', () => !tagsOf(bed).includes(unused));
    await until('it wrote its state', () => detected().size === 3);
    for (const [id, at] of detected()) expect(at).toBe(known.get(id));
    expect(containersOf(bed)).toContain('main 2 Running');
  },
);
