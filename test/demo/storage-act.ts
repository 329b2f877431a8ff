import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../src/api/json.ts';
import { wrapped } from '../../src/commands/cli/table.ts';
import type { KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { nodeName } from './node-mess.ts';
import { bar, bold, dim, green } from './screen.ts';
import { patienceMs, type Stage } from './stage.ts';

const limitKiB = 4 * 1024;
const stepKiB = 256;
const width = 76;

/** Pods whose emptyDir fills up, by how much in the end, and whether each is evicted. */
const writers = [
  { name: 'cache-1', labels: {}, kib: 4608, isEvicted: true },
  { name: 'cache-kept', labels: { 'gc.dustpan.dev/keep': 'true' }, kib: 4608, isEvicted: false },
  { name: 'cache-small', labels: {}, kib: 1024, isEvicted: false },
] as const;

interface Cache {
  readonly name: string;
  readonly uid: string;
  readonly kib: number;
  readonly isEvicted: boolean;
  writtenKiB: number;
}

const podsPath = '/api/v1/namespaces/web/pods';
const policyPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies/nodes';

/** A volume that fills up on the node that was cleaned: its pod is warned about, then evicted; resolves once all is as it should be. */
export async function storageAct(stage: Stage): Promise<boolean> {
  const { screen, send, kubelet } = stage;
  screen.say();
  if (kubelet === undefined) {
    screen.say(dim('local storage is left out: its simulated kubelet needs Linux and openssl'));
    return true;
  }
  screen.say(`${bold('local storage')}: pods of ${nodeName} write into volumes that may hold 4 MiB each`);
  const rule = { localStorageEviction: {} };
  screen.say(dim('  kubectl patch gcpolicy nodes --type merge -p'));
  screen.say(dim(`    '${JSON.stringify({ spec: { nodes: rule } })}'`));
  const caches = await Promise.all(writers.map((writer) => bind(stage, writer)));
  await send('PATCH', policyPath, { spec: { nodes: rule } });
  const warned = caches.filter(({ isEvicted }) => isEvicted).map(({ name }) => name);

  const node = { screen, kubelet, caches };
  await fillUp(node, limitKiB * 0.9);
  const seen = new Look(stage, caches);
  await seen.until('a warning', async () => {
    const told = await notes(stage, 'LocalStorageHigh');
    return warned.every((name) => told.has(name));
  });
  await tell(stage, 'LocalStorageHigh');
  await fillUp(node, Infinity);
  await seen.until('the eviction and its Event', async () => {
    const told = await notes(stage, 'Evicted');
    return told.has('cache-1') && !(await podNames(stage)).includes('cache-1');
  });
  await tell(stage, 'Evicted');
  return reckon(stage, caches);
}

/** Creates the pod, bound to the node. */
async function bind(
  { send }: Stage,
  { name, labels, kib, isEvicted }: (typeof writers)[number],
): Promise<Cache> {
  const pod = await send('POST', podsPath, {
    metadata: { name, labels },
    spec: {
      // No kubelet is here to end it.
      ...{ nodeName, terminationGracePeriodSeconds: 0 },
      containers: [{ name: 'main', image: 'registry.example.com/cache:v1' }],
      volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '4Mi' } }],
    },
  });
  await send('PATCH', `${podsPath}/${name}/status`, { status: { phase: 'Running' } });
  const { uid } = pod['metadata'] as { uid: string };
  return { name, uid, kib, isEvicted, writtenKiB: 0 };
}

interface Node extends Pick<Stage, 'screen'> {
  readonly kubelet: KubeletSandbox;
  readonly caches: readonly Cache[];
}

/** Raises what the kubelet reports step by step, so that a person sees it grow. */
async function fillUp({ screen, kubelet, caches }: Node, upToKiB: number): Promise<void> {
  let isWriting = true;
  while (isWriting) {
    isWriting = false;
    for (const cache of caches) {
      if (cache.writtenKiB + stepKiB > Math.min(cache.kib, upToKiB)) continue;
      cache.writtenKiB += stepKiB;
      isWriting = true;
    }
    kubelet.pods = caches.map(({ uid, name, writtenKiB }) => ({
      ...{ uid, namespace: 'web', name, volumes: { tmp: writtenKiB * 1024 } },
    }));
    screen.frame(lines(caches));
    await sleep(250);
  }
}

const lines = (caches: readonly Cache[]): string[] =>
  caches.map(({ name, writtenKiB }) => {
    const percent = Math.round((100 * writtenKiB) / limitKiB);
    return `  ${name.padEnd(12)} ${bar(Math.min(percent, 100))} ${String(percent).padStart(4)} % of the limit`;
  });

/** Shows the volumes while it waits. */
class Look {
  readonly #stage: Stage;
  readonly #caches: readonly Cache[];

  constructor(stage: Stage, caches: readonly Cache[]) {
    this.#stage = stage;
    this.#caches = caches;
  }

  async until(what: string, is: () => Promise<boolean>): Promise<void> {
    const { screen } = this.#stage;
    const deadline = Date.now() + patienceMs;
    while (!(await is())) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
      screen.frame(lines(this.#caches));
      await sleep(200);
    }
    screen.settle(lines(this.#caches));
  }
}

async function tell(stage: Stage, reason: string): Promise<void> {
  for (const [pod, note] of await notes(stage, reason))
    for (const line of wrapped(`${reason} on pod ${pod}: ${note}`, width, '    '))
      stage.screen.say(`  ${line}`);
}

async function reckon(stage: Stage, caches: readonly Cache[]): Promise<boolean> {
  const left = await podNames(stage);
  const evicted = await notes(stage, 'Evicted');
  for (const { name, isEvicted } of caches)
    if (left.includes(name) === isEvicted || evicted.has(name) !== isEvicted)
      throw new Error(`${name} should ${isEvicted ? 'be evicted' : 'stay'}`);
  stage.screen.say(green('cache-1 was warned about, then evicted; the marked one and the small one stay'));
  return true;
}

/** Of the Events on pods with this reason, by pod. */
async function notes({ transport, signal }: Stage, reason: string): Promise<ReadonlyMap<string, string>> {
  const path = '/apis/events.k8s.io/v1/namespaces/web/events';
  const { body } = await transport.send({ method: 'GET', path }, signal);
  const { items } = JSON.parse(body.toString()) as { items: readonly Record<string, unknown>[] };
  const found = items.filter((event) => event['reason'] === reason);
  return new Map(found.map(({ regarding, note }) => [nameOf(regarding), String(note)]));
}

const nameOf = (ref: unknown): string => (isObject(ref) ? String(ref['name']) : '');

async function podNames({ transport, signal }: Stage): Promise<readonly string[]> {
  const { body } = await transport.send({ method: 'GET', path: podsPath }, signal);
  const { items } = JSON.parse(body.toString()) as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}
