// @bed node imageFsMB=0
import { mkdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startAgent } from '../agent/agent.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { applyPolicy, archiveOf, condition, startQuietNode } from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { dustpanUser, startController } from '../controller/dustpan.ts';
import { busyboxImage } from '../node/image.ts';
import { onlyMeasures } from '../programs/kubelet-quick.ts';
import { createOverruns, podEvents, print, write, type Overrun, type PodEvent } from './pods.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

let archive: string;
let cluster: Cluster;
let agent: DustpanProcess;
let controller: DustpanProcess;

beforeAll(async () => {
  ({ archive } = await archiveOf([busyboxImage]));
});
afterEach(async () => {
  await controller.stop();
  await agent.stop();
  await cluster.stop();
});

async function start(program: 'kubelet' | 'kubelet-quick', rule: object): Promise<void> {
  const config = { volumeStatsAggPeriod: '2s', ...(program === 'kubelet-quick' && onlyMeasures) };
  cluster = await startQuietNode({
    images: [{ archive }],
    users: [dustpanUser],
    kubelet: { program, config },
  });
  await applyPolicy(cluster, 'Enforce', { localStorageEviction: rule });
  agent = await startAgent(cluster, { args: ['--local-storage-period=2s', '--container-gc-period=5s'] });
  await agent.ready();
  controller = await startController(cluster);
}

const names = async (): Promise<readonly string[]> =>
  (await kubectl(cluster, ['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']))
    .split(' ')
    .filter((name) => name !== '');

const isGone = (pod: string) => async (): Promise<boolean> => !(await names()).includes(pod);

const notesOn = async (reason: string, pod: string): Promise<readonly string[]> =>
  (await podEvents(cluster, reason)).filter((event) => event.pod === pod).map(({ note }) => note);

const reported = (reason: string, pod: string) => async (): Promise<boolean> =>
  (await notesOn(reason, pod)).length > 0;

/** Runs the first script, and the second after `goOn`. */
const inTwoSteps = (first: string, then: string): string =>
  `${first}; while [ ! -e /go/on ]; do sleep 0.2; done; ${then}`;
const goOn = (pod: string): Promise<string> =>
  kubectl(cluster, ['exec', pod, '-c', 'main', '--', 'touch', '/go/on']);

describe('a kubelet that evicts no pod, so that only dustpan acts', () => {
  const warned: Readonly<Record<string, Overrun>> = {
    volume: {
      emptyDirs: { a: '10Mi', go: '' },
      main: { script: inTwoSteps(write('/a/x', 9), write('/a/y', 3)) },
    },
    container: {
      emptyDirs: { go: '' },
      main: { limit: '10Mi', script: inTwoSteps(write('/x', 9), write('/y', 3)) },
      second: { limit: '90Mi' },
    },
    pod: {
      emptyDirs: { a: '', go: '' },
      main: { limit: '10Mi', script: inTwoSteps(`${write('/a/x', 8)}; ${print(1)}`, write('/a/y', 3)) },
    },
  };
  /** A measurement may be taken during the last write. */
  const words: Readonly<Record<string, RegExp>> = {
    volume:
      /^Usage of EmptyDir volume "a" exceeds the limit "10Mi"\. It uses 1[0-2]\.\d MiB, 1[0-2]\d % of the limit 10Mi\.$/,
    container: /^Container main exceeded its local ephemeral storage limit "10Mi"\. It uses 1[0-2]\.\d MiB/,
    pod: /^Pod ephemeral local storage usage exceeds the total limit of containers 10Mi\. It uses 1[0-2]\.\d MiB/,
  };

  test('pods are warned, and evicted once over the limit; a budget protects one, a critical pod stays', async () => {
    await start('kubelet-quick', { warnAtPercent: [80] });
    // Before its pod, which is over from the first moment on.
    await kubectl(cluster, ['create', 'pdb', 'all', '--selector=app=guarded', '--min-available=1']);
    const over = { emptyDirs: { a: '5Mi' }, main: { script: write('/a/x', 9) } };
    await createOverruns(cluster, {
      ...warned,
      critical: { ...over, spec: { priorityClassName: 'system-node-critical' } },
      guarded: { ...over, labels: { app: 'guarded' } },
      modest: { emptyDirs: { a: '10Mi' }, main: { script: write('/a/x', 5) } },
    });
    for (const pod of [...Object.keys(warned), 'critical'])
      await waitUntil(`${pod} is warned`, reported('LocalStorageHigh', pod));
    expect((await names()).toSorted()).toEqual(
      expect.arrayContaining(['container', 'critical', 'guarded', 'modest', 'pod', 'volume']),
    );
    expect(await podEvents(cluster, 'Evicted')).toEqual([]);

    for (const pod of Object.keys(warned)) await goOn(pod);
    for (const [pod, note] of Object.entries(words)) {
      await waitUntil(`${pod} is gone`, isGone(pod));
      await expect
        .poll(() => notesOn('Evicted', pod), eventually)
        .toEqual([expect.stringMatching(note) as string]);
    }

    await waitUntil('the budget is reported', reported('EvictionBlocked', 'guarded'));
    expect(await names()).toContain('guarded');
    await kubectl(cluster, ['delete', 'pdb', 'all']);
    await waitUntil('the budget holds no more', isGone('guarded'));

    expect((await names()).toSorted()).toEqual(['critical', 'modest']);
    expect(await notesOn('LocalStorageHigh', 'modest')).toEqual([]);
    const evicted = async (): Promise<readonly string[]> =>
      (await podEvents(cluster, 'Evicted')).map(({ pod, by }: PodEvent) => `${pod} ${by}`).toSorted();
    const by = 'gc.dustpan.dev/controller';
    await expect
      .poll(evicted, eventually)
      .toEqual([`container ${by}`, `guarded ${by}`, `pod ${by}`, `volume ${by}`]);
    const metrics = await (await fetch(controller.metricsUrl)).text();
    expect(metrics).toContain('dustpan_evictions_total{eviction_signal="emptydirfs.limit"} 2');
    expect(metrics).toContain('dustpan_evictions_total{eviction_signal="ephemeralpodfs.limit"} 1');
    expect(metrics).toContain('dustpan_evictions_total{eviction_signal="ephemeralcontainerfs.limit"} 1');
    await waitUntil(
      'nothing is left to do',
      async () => (await condition(cluster, 'Degraded')) === 'False AsPlanned',
    );
  }, 900_000);
});

test('evicts ahead of the kubelet: the pod has its grace period, and its preStop hook completes', async () => {
  mkdirSync('/var/lib/reported', { recursive: true });
  await start('kubelet', { warnAtPercent: [50], evictAtPercent: 90 });
  const hook = {
    exec: { command: ['sh', '-c', 'echo begun >/reported/hook; sleep 4; echo ended >>/reported/hook'] },
  };
  const script = `trap "echo term >>/reported/hook; exit 0" TERM; ${write('/a/x', 19)}; while :; do sleep 0.2; done`;
  await createOverruns(cluster, {
    polite: {
      spec: {
        terminationGracePeriodSeconds: 20,
        volumes: [
          { name: 'a', emptyDir: { sizeLimit: '20Mi' } },
          { name: 'reported', hostPath: { path: '/var/lib/reported' } },
        ],
        containers: [
          {
            ...{ name: 'main', image: busyboxImage.ref, command: ['sh', '-c', script] },
            lifecycle: { preStop: hook },
            volumeMounts: [
              { name: 'a', mountPath: '/a' },
              { name: 'reported', mountPath: '/reported' },
            ],
          },
        ],
      },
    },
  });
  await waitUntil('polite is gone', isGone('polite'));
  expect(readFileSync('/var/lib/reported/hook', 'utf8')).toBe('begun\nended\nterm\n');
  const evicted = async (): Promise<readonly string[]> =>
    (await podEvents(cluster, 'Evicted')).map(({ by, note }) => `${by}: ${note}`);
  await expect
    .poll(evicted, eventually)
    .toEqual([
      expect.stringMatching(
        /^gc\.dustpan\.dev\/controller: Usage of EmptyDir volume "a" exceeds 90 % of the limit "20Mi"\. It uses 1[89]\.\d MiB, 9\d % of the limit 20Mi\.$/,
      ),
    ]);
}, 900_000);
