import { setTimeout as sleep } from 'node:timers/promises';
import { wrapped } from '../../src/commands/cli/table.ts';
import type { KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { policiesPath, timeoutMs, type Context } from './context.ts';
import { nodeName } from './node/objects.ts';
import { bar, bold, dim, green } from './screen.ts';

const limitKiB = 4 * 1024;
const stepKiB = 256;
const noteWidth = 76;

/** Pods that write into an emptyDir, and how much. */
const writers = [
  { name: 'cache-1', labels: {}, kib: 4608, isEvicted: true },
  { name: 'cache-kept', labels: { 'gc.dustpan.dev/keep': 'true' }, kib: 4608, isEvicted: false },
  { name: 'cache-small', labels: {}, kib: 1024, isEvicted: false },
] as const;

interface Volume {
  readonly name: string;
  readonly uid: string;
  readonly kib: number;
  writtenKiB: number;
}

const podsPath = '/api/v1/namespaces/web/pods';

/** Shows volumes that fill up: the agent warns, the controller evicts. Resolves once each pod had the expected outcome. */
export async function storagePart(context: Context): Promise<boolean> {
  const { screen, send, kubelet } = context;
  screen.print();
  if (kubelet === undefined) {
    screen.print(dim('local storage is left out: its simulated kubelet needs Linux'));
    return true;
  }
  screen.print(`${bold('local storage')}: pods of ${nodeName} write into volumes with a limit of 4 MiB each`);
  const rule = { localStorageEviction: {} };
  screen.print(dim('  kubectl patch gcpolicy nodes --type merge -p'));
  screen.print(dim(`    '${JSON.stringify({ spec: { nodes: rule } })}'`));
  const volumes = await Promise.all(writers.map((writer) => createPod(context, writer)));
  await send('PATCH', `${policiesPath}/nodes`, { spec: { nodes: rule } });
  const evicted = writers.filter(({ isEvicted }) => isEvicted).map(({ name }) => name);

  await fill({ context, kubelet, volumes }, limitKiB * 0.9);
  await waitWithVolumes(context, volumes, async () => {
    const warned = await notes(context, 'LocalStorageHigh');
    return evicted.every((name) => warned.has(name));
  });
  await printEvents(context, 'LocalStorageHigh');
  await fill({ context, kubelet, volumes }, Infinity);
  await waitWithVolumes(context, volumes, async () => {
    const [reported, left] = [await notes(context, 'Evicted'), await podNames(context)];
    return evicted.every((name) => reported.has(name) && !left.includes(name));
  });
  await printEvents(context, 'Evicted');
  await checkOutcomes(context);
  screen.print(green('cache-1 was warned about and evicted; the pod with the keep label and the small'));
  screen.print(green('one are still there'));
  return true;
}

/** Creates the pod, bound to the node. */
async function createPod(
  { send }: Context,
  { name, labels, kib }: (typeof writers)[number],
): Promise<Volume> {
  const pod = await send('POST', podsPath, {
    metadata: { name, labels: { app: 'cache', ...labels } },
    spec: {
      // No kubelet is here to end it.
      ...{ nodeName, terminationGracePeriodSeconds: 0 },
      containers: [{ name: 'main', image: 'registry.example.com/cache:v1' }],
      volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '4Mi' } }],
    },
  });
  await send('PATCH', `${podsPath}/${name}/status`, { status: { phase: 'Running' } });
  const { uid } = pod['metadata'] as { uid: string };
  return { name, uid, kib, writtenKiB: 0 };
}

interface Filling {
  readonly context: Context;
  readonly kubelet: KubeletSandbox;
  readonly volumes: readonly Volume[];
}

/** Raises the usage that the kubelet reports step by step, so that a person can follow it. */
async function fill({ context, kubelet, volumes }: Filling, upToKiB: number): Promise<void> {
  const growing = (): Volume[] =>
    volumes.filter(({ writtenKiB, kib }) => writtenKiB + stepKiB <= Math.min(kib, upToKiB));
  while (growing().length > 0) {
    for (const volume of growing()) volume.writtenKiB += stepKiB;
    kubelet.pods = volumes.map(({ uid, name, writtenKiB }) => ({
      ...{ uid, namespace: 'web', name, volumes: { tmp: writtenKiB * 1024 } },
    }));
    context.screen.frame(lines(volumes));
    await sleep(250);
  }
}

const lines = (volumes: readonly Volume[]): string[] =>
  volumes.map(({ name, writtenKiB }) => {
    // Rounded down, as in the Events.
    const percent = Math.floor((100 * writtenKiB) / limitKiB);
    return `  ${name.padEnd(12)} ${bar(Math.min(percent, 100))} ${String(percent).padStart(4)} % of the limit`;
  });

async function waitWithVolumes(
  { screen }: Context,
  volumes: readonly Volume[],
  isDone: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs;
  while (!(await isDone())) {
    if (Date.now() > deadlineMs) throw new Error('the expected Event or eviction did not happen');
    screen.frame(lines(volumes));
    await sleep(200);
  }
  screen.lastFrame(lines(volumes));
}

async function printEvents(context: Context, reason: string): Promise<void> {
  for (const [pod, note] of await notes(context, reason))
    for (const line of wrapped(`${reason} on pod ${pod}: ${note}`, noteWidth, '    '))
      context.screen.print(`  ${line}`);
}

async function checkOutcomes(context: Context): Promise<void> {
  const [left, evicted] = [await podNames(context), await notes(context, 'Evicted')];
  for (const { name, isEvicted } of writers)
    if (left.includes(name) === isEvicted || evicted.has(name) !== isEvicted)
      throw new Error(`${name} should ${isEvicted ? 'be evicted' : 'be kept'}`);
}

/** Notes of the Events on pods with this reason, by pod. */
async function notes({ send }: Context, reason: string): Promise<ReadonlyMap<string, string>> {
  const { items } = await send('GET', '/apis/events.k8s.io/v1/namespaces/web/events');
  const found = (items as PodEvent[]).filter((event) => event.reason === reason);
  return new Map(found.map(({ regarding, note }) => [regarding?.name ?? '', note ?? '']));
}

interface PodEvent {
  readonly reason?: string;
  readonly regarding?: { readonly name?: string };
  readonly note?: string;
}

async function podNames({ send }: Context): Promise<readonly string[]> {
  const { items } = await send('GET', podsPath);
  return (items as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}
