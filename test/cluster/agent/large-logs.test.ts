// @bed node
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { podEvents, type PodEvent } from '../local-storage/pods.ts';
import { busyboxImage } from '../node/image.ts';
import type { Cluster } from '../servers/cluster.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import { startAgent } from './agent.ts';
import {
  applyPolicy,
  createPods,
  metric,
  phases,
  podManifest,
  readReport,
  startQuietNode,
  withStaticPods,
  writeStaticPod,
} from './environment.ts';

const image = busyboxImage.ref;
const mebi = 1024 ** 2;

/** Prints some 100 KiB a second. */
const script =
  "line=$(printf '%01008d' 0); while :; do i=0; while [ $i -lt 100 ]; do echo $line; i=$((i+1)); done; sleep 1; done";
const runaways = ['fixed-node-a', 'kept', 'renamed', 'runaway'];

let cluster: Cluster;
let agent: DustpanProcess;
/** The current log of each pod. */
const files = new Map<string, string>();

/** The directory of the pod's container; that of a static pod has another UID than its mirror. */
function logDirectory(pod: string): string {
  const [directory = ''] = readdirSync('/var/log/pods').filter((name) => name.startsWith(`default_${pod}_`));
  return join('/var/log/pods', directory, 'main');
}

beforeAll(async () => {
  cluster = await startQuietNode({
    images: [busyboxImage],
    // No rotation; and the kubelet does not find the renamed log, or it would make the runtime open another one.
    config: { ...withStaticPods, containerLogMaxSize: '100Gi', containerLogMonitorInterval: '24h' },
  });
  await createPods(cluster, {
    runaway: { image, script },
    renamed: { image, script },
    kept: { image, script, labels: { 'gc.dustpan.dev/keep': 'true' } },
    quiet: { image, script: 'echo hello; sleep 3600' },
  });
  writeStaticPod('fixed', podManifest('fixed', { image, script }));
  await waitUntil('all pods run', async () => {
    const all = Object.values(await phases(cluster));
    return all.length === runaways.length + 1 && all.every((phase) => phase === 'Running');
  });
  for (const pod of runaways) files.set(pod, join(logDirectory(pod), '0.log'));
  // As a rotation leaves it that fails after the rename: the runtime writes to the renamed file.
  const live = files.get('renamed') ?? '';
  renameSync(live, `${live}.20260101-000000`);
  files.set('renamed', `${live}.20260101-000000`);
  await applyPolicy(cluster, 'Enforce', { containerGC: { logs: { warnBytesPerContainer: '2Mi' } } });
  agent = await startAgent(cluster, { args: ['--container-gc-period=5s'] });
});

const events = (): Promise<readonly PodEvent[]> => podEvents(cluster, 'LogTooLarge');
const warned = async (): Promise<readonly string[]> => (await events()).map(({ pod }) => pod).toSorted();

test('each pod with a runaway log gets one Event with growth and file', async () => {
  await expect.poll(warned, eventually).toEqual(runaways);
  const clause = 'dustpan warns above 2Mi';
  for (const { pod, note, by } of await events()) {
    expect(by).toBe('gc.dustpan.dev/agent');
    expect(note).toMatch(
      new RegExp(
        `^The current log of container main of pod default/${pod} is [0-9.]+ MiB; ${clause}\\. It grows by [0-9.]+ (Ki|Mi)B a minute\\. `,
      ),
    );
    expect(note).toContain(`The file is ${files.get(pod) ?? ''}:`);
  }
  // kubectl selects the Events of a mirror pod by the UID of its static pod.
  const described = await kubectl(cluster, ['describe', 'pod', 'fixed-node-a']);
  expect(described).toContain('LogTooLarge');

  const sizes = [...files.values()].map((path) => statSync(path).size);
  await passesOf(agent, 'containergc', 3);
  expect(await warned()).toEqual(runaways);
  // Nothing was cut.
  expect(
    [...files.values()].map((path, i) => statSync(path).size - (sizes[i] ?? 0)).every((grown) => grown > 0),
  ).toBe(true);
});

test('metrics and the report show the large logs', async () => {
  expect(await metric(agent, 'dustpan_container_log_largest_bytes')).toBeGreaterThan(2 * mebi);
  const reported = async (): Promise<readonly (string | undefined)[]> =>
    ((await readReport(cluster))?.largestOffenders ?? [])
      .filter(({ kind, reason }) => kind === 'LogFile' && reason === 'LogTooLarge')
      .map(({ id }) => id)
      .toSorted();
  await expect.poll(reported, eventually).toEqual([...files.values()].toSorted());
});
