// @bed node diskMB=2048 loop
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { NodeGCReportStatusUsageWorkload } from '../../../src/api/gen/nodegcreport.gen.ts';
import { parseQuantity } from '../../../src/runtime/text/quantity.ts';
import { print, write } from '../local-storage/pods.ts';
import { busyboxImage } from '../node/image.ts';
import type { Cluster } from '../servers/cluster.ts';
import { apply, kubectl } from '../servers/kubectl.ts';
import { runDustpan } from '../servers/command.ts';
import { waitUntil } from '../servers/waiting.ts';
import { startAgent, stateFileOf } from './agent.ts';
import { measuring, readReport, startQuietNode } from './environment.ts';

const mebi = 1024 * 1024;
const podRoot = '/var/lib/kubelet/pods';
const args = ['--local-storage-period=2s', '--container-gc-period=5s'];

/** Two replicas on this node, without addresses. */
const deployment = (cluster: Cluster, script: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        ...{ nodeName: cluster.node.name, hostNetwork: true, terminationGracePeriodSeconds: 1 },
        containers: [
          {
            ...{ name: 'main', image: busyboxImage.ref },
            command: ['sh', '-c', `${script}; while :; do sleep 1; done`],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    },
  },
});

/** Bytes below a folder, as `du` counts them; 0 = it is gone meanwhile. */
function du(path: string): number {
  const out = execFileSync('sh', ['-c', `du -scB1 ${path} 2>/dev/null | tail -1 | cut -f1`], {
    encoding: 'utf8',
  });
  return Number(out);
}

const snapshots = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots';

/** Of each pod, and the file `layer` in the writable layers. */
function sizes() {
  const pods = readdirSync(podRoot).map((uid) => {
    const volume = du(join(podRoot, uid, 'volumes/kubernetes.io~empty-dir/data'));
    return { volume, logs: du(`/var/log/pods/default_web-*_${uid}`) };
  });
  const layers = execFileSync('sh', ['-c', `stat -c %b ${snapshots}/*/fs/layer 2>/dev/null || true`], {
    encoding: 'utf8',
  });
  return { pods, layer: 512 * Math.max(0, ...layers.trim().split('\n').map(Number)) };
}

/** As if the agent had watched so many more days before its end. */
function letDaysPass(cluster: Cluster, days: number): void {
  const file = join(dirname(stateFileOf(cluster)), 'marks.json');
  const marks = JSON.parse(readFileSync(file, 'utf8')) as { observedMs: number };
  writeFileSync(file, JSON.stringify({ ...marks, observedMs: marks.observedMs + days * 86_400_000 }));
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly name: string;
          readonly resources: { readonly limits?: Readonly<Record<string, string>> };
        }[];
        readonly volumes: readonly object[];
      };
    };
  };
}

async function web(cluster: Cluster): Promise<NodeGCReportStatusUsageWorkload | undefined> {
  const { workloads = [] } = (await readReport(cluster))?.usage ?? {};
  return workloads.find(({ kind, name }) => kind === 'Deployment' && name === 'web');
}

const isNear = (bytes: number | undefined, expected: number): boolean =>
  bytes !== undefined && Math.abs(bytes - expected) <= 0.05 * expected;

const highestOf = (one: NodeGCReportStatusUsageWorkload | undefined, kind: string): number | undefined =>
  one?.parts?.find((part) => part.kind === kind)?.highestBytes;

test('the mark of a Deployment whose pods grew and were replaced is what du saw, also after a restart of the agent', async () => {
  const cluster = await startQuietNode({
    images: [busyboxImage],
    config: { ...measuring, containerLogMaxSize: '1Gi' },
  });
  const agent = await startAgent(cluster, { args });
  const growing = `${write('/data/a', 60)}; sleep 10; ${write('/data/b', 60)}; ${write('/layer', 70)}; ${print(20)}`;
  await apply(cluster, deployment(cluster, growing));
  const isGrown = () => {
    const { pods, layer } = sizes();
    const grown = pods.filter(({ volume, logs }) => volume >= 120 * mebi && logs >= 20 * mebi);
    return grown.length === 2 && layer >= 70 * mebi;
  };
  await waitUntil('the pods to have grown', () => Promise.resolve(isGrown()), { timeout: 300_000 });
  const seen = sizes();
  const [volume, logs] = [
    Math.max(...seen.pods.map((pod) => pod.volume)),
    Math.max(...seen.pods.map((pod) => pod.logs)),
  ];
  const hasMark = async (): Promise<boolean> => {
    const one = await web(cluster);
    return (
      isNear(highestOf(one, 'volume'), volume) &&
      isNear(highestOf(one, 'container'), seen.layer + logs) &&
      isNear(one?.highestBytes, volume + seen.layer + logs)
    );
  };
  await waitUntil('the mark', hasMark, { timeout: 300_000 });
  expect(await web(cluster)).toMatchObject({ namespace: 'default', pods: 2 });

  await apply(cluster, deployment(cluster, write('/data/a', 10)));
  await waitUntil('the pods to be replaced', async () => {
    const { pods } = sizes();
    const names = await kubectl(cluster, ['get', 'pods', '-o', 'name', '-l', 'app=web']);
    return names.trim().split('\n').length === 2 && pods.every((pod) => pod.volume < 20 * mebi);
  });
  await agent.stop();
  letDaysPass(cluster, 6);
  await startAgent(cluster, { args });
  const now = 2 * 10 * mebi;
  await waitUntil('what the new pods use', async () => isNear((await web(cluster))?.bytes, now), {
    timeout: 420_000,
  });
  expect(await hasMark()).toBe(true);

  const patch = join(cluster.dir, 'web.yaml');
  const admin = `--kubeconfig=${cluster.kubeconfig('admin')}`;
  writeFileSync(patch, await runDustpan('suggest', 'deploy/web', '-n', 'default', admin, '-o', 'yaml'));
  await kubectl(cluster, ['patch', 'deployment', 'web', '-n', 'default', '--patch-file', patch]);
  const patched = JSON.parse(
    await kubectl(cluster, ['get', 'deployment', 'web', '-o', 'json']),
  ) as Deployment;
  const { containers, volumes } = patched.spec.template.spec;
  const needed = 1.2 * (volume + seen.layer + logs);
  const [main] = containers.map(({ resources }) => resources.limits?.['ephemeral-storage'] ?? '');
  expect(containers).toMatchObject([{ name: 'main', image: busyboxImage.ref }]);
  expect(parseQuantity(main ?? '')).toBeGreaterThan(0.95 * needed);
  expect(parseQuantity(main ?? '')).toBeLessThan(1.3 * needed);
  expect(volumes).toMatchObject([{ name: 'data', emptyDir: { sizeLimit: expect.any(String) as string } }]);
}, 1_500_000);
