// @bed node prometheus
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certify } from '../../certificate.ts';
import { agentUser, startAgent } from '../agent/agent.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { createPods, startQuietNode, untilPhases } from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { dustpanUser, startDustpan } from '../controller/dustpan.ts';
import { busyboxImage } from '../node/image.ts';
import {
  makeScraper,
  namespace,
  publish,
  startPrometheus,
  type Prometheus,
  type Scrape,
} from './prometheus.ts';
import { repositoryRoot } from '../repository.ts';
import { policyManifest } from '../../manifests.ts';
import { kubectl, apply } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

/** Queries without data while nothing fails: their series appear with the first failure. */
const mayBeEmpty: Readonly<Record<string, string>> = {
  'Watches: failed: {{job}} {{resource}}': 'no watch has failed, and its resource is not preset',
  'Orphaned resources of deleted pods: {{kind}}':
    'the agent searches every ten minutes; a kind that it cannot count has no series',
  'Bytes of orphaned resources of deleted pods: {{kind}}': 'likewise',
  'Time until a disk is full, after collection: {{node}}': 'a disk that does not grow is never full',
  'Time until a threshold is crossed: {{node}} {{signal}}': 'a signal that does not grow crosses none',
};

const reviews = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
const ports = { controller: 18080, agent: 18081 };
const quick = ['--image-gc-period=2s', '--container-gc-period=2s', '--local-storage-period=2s'];

let cluster: Cluster;
let parts: DustpanProcess[] = [];
let tlsDir: string;

beforeAll(async () => {
  const rules = [...(dustpanUser.rules ?? []), ...reviews];
  cluster = await startQuietNode({
    images: [busyboxImage, { ref: 'bed.test/unused:1', fill: { bytes: 8e6, kind: 'random' } }],
    users: [
      { name: 'controller', rules },
      { name: 'agent', rules: [...(agentUser.rules ?? []), ...reviews] },
    ],
  });
  await kubectl(cluster, ['create', 'namespace', namespace]);
  await makeScraper(cluster);
  for (const [component, port] of Object.entries(ports)) await publish(cluster, component, port);
  tlsDir = join(cluster.dir, 'tls');
  const { chain, key, ca } = certify([`IP:${cluster.node.address}`]);
  mkdirSync(tlsDir);
  for (const [name, pem] of Object.entries({ 'tls.crt': chain, 'tls.key': key, 'ca.crt': ca }))
    writeFileSync(join(tlsDir, name), pem);
});
/** Both as processes of this node, with the flags that the chart gives them. */
async function startParts(...flags: readonly string[]): Promise<void> {
  const at = (port: number): string => `--metrics-bind-address=:${port}`;
  const kubeconfig = cluster.kubeconfig('controller');
  const lease = ['--leader-elect=true', `--leader-elect-resource-namespace=${namespace}`];
  const controllerArgs = ['--pod-gc-period=1s', ...lease, at(ports.controller), ...flags];
  const agentArgs = [...quick, '--local-storage-pod-metrics', at(ports.agent), ...flags];
  parts = await Promise.all([
    startDustpan({ kubeconfig, dir: cluster.dir, args: controllerArgs }),
    startAgent(cluster, { user: 'agent', args: agentArgs }),
  ]);
}

async function stopParts(): Promise<void> {
  await Promise.all(parts.splice(0).map((part) => part.stop()));
}

async function health(prometheus: Prometheus): Promise<readonly string[]> {
  const targets = await prometheus.targets();
  return targets
    .map(({ labels, health: is, lastError }) => `${labels['job'] ?? ''} ${is} ${lastError}`.trim())
    .sort();
}

const bothUp = ['dustpan-agent up', 'dustpan-controller up'];

const policy = policyManifest('default', {
  mode: 'Enforce',
  pods: { terminated: { ttlAfterFinished: '3s' }, orphaned: {} },
  nodes: {
    imageGC: { maximumAge: '5s', minimumAge: '2s', holdAbove: 0 },
    containerGC: { logs: {} },
    localStorageEviction: {},
    nodePressure: {},
  },
});

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { panels } = JSON.parse(
  readFileSync(join(repositoryRoot(), 'helm/dustpan/files/dashboard.json'), 'utf8'),
) as { readonly panels: readonly Panel[] };

/** The queries of the dashboard. */
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ name: `${title}: ${legendFormat}`, expr })),
);

/** A query as Grafana sends it when everything is chosen, for samples that are a second apart. */
const inGrafana = (expr: string): string =>
  expr
    .replaceAll(/\$(namespace|node)\b/g, '.*')
    .replaceAll('$__rate_interval', '15s')
    .replaceAll('$__range', '5m');

describe('a Prometheus that discovers and scrapes both', () => {
  let prometheus: Prometheus;
  beforeAll(async () => {
    await startParts();
    prometheus = await startPrometheus(cluster, {});
    await waitUntil('both targets are up', async () => (await health(prometheus)).join() === bothUp.join());
    await createPods(cluster, {
      running: { image: busyboxImage.ref, script: 'while true; do echo x; sleep 1; done' },
      finished: { image: busyboxImage.ref, script: 'echo done', restartPolicy: 'Never' },
    });
    // Before the policy: an image that no container has come to use would be removed for its age, rightly.
    await untilPhases(cluster, { running: 'Running', finished: 'Succeeded' });
    await apply(cluster, policy);
    await untilPhases(cluster, { running: 'Running' });
  });
  afterAll(stopParts);

  const emptyOnes = async (): Promise<readonly string[]> => {
    const empty: string[] = [];
    for (const { name, expr } of queries) {
      const samples = await prometheus.query(inGrafana(expr));
      if (!samples.some(({ value }) => Number.isFinite(value))) empty.push(name);
    }
    return empty.filter((name) => !(name in mayBeEmpty));
  };

  test('every query of the dashboard has data', async () => {
    expect(queries.length).toBeGreaterThan(50);
    await expect.poll(emptyOnes, { ...eventually, interval: 2_000 }).toEqual([]);
  });

  test('counts the removals', async () => {
    const value = async (expr: string): Promise<number | undefined> =>
      (await prometheus.query(expr))[0]?.value;
    await expect
      .poll(
        () => value('sum(dustpan_pod_gc_force_delete_pods_total{exported_namespace="default"})'),
        eventually,
      )
      .toBe(1);
    await expect
      .poll(() => value('dustpan_image_garbage_collected_total{reason="age"}'), eventually)
      .toBeGreaterThan(0);
    // One at a time: a slow scrape leaves a gap in all of them.
    for (const expr of [
      'dustpan_removed_objects_total{unit="podgc",reason="Expired"}',
      'dustpan_leader_election_master_status',
      'dustpan_policy_condition{policy="default",type="Accepted",status="True"}',
    ])
      await expect.poll(() => value(expr), eventually).toBe(1);
  });

  test('evaluates the alerts, and none is pending without its cause', async () => {
    const rules = await prometheus.rules();
    expect(rules.length).toBeGreaterThan(15);
    const unhealthy = async (): Promise<readonly string[]> =>
      (await prometheus.rules()).filter(({ health: is }) => is !== 'ok').map(({ name }) => name);
    await expect.poll(unhealthy, eventually).toEqual([]);
    // A scrape that a busy machine has delayed is over with the next.
    const onTheirWay = async (): Promise<readonly string[]> =>
      (await prometheus.rules()).filter(({ state }) => state !== 'inactive').map(({ name }) => name);
    await expect.poll(onTheirWay, eventually).toEqual([]);
  });
});

describe('over TLS, with authorization', () => {
  beforeAll(async () => {
    await startParts('--metrics-secure', `--metrics-cert-dir=${tlsDir}`, '--metrics-auth');
  });

  const scraped = async (scrape: Scrape, expected: readonly string[]): Promise<void> => {
    await using prometheus = await startPrometheus(cluster, scrape);
    await expect.poll(() => health(prometheus), eventually).toEqual(expected);
  };
  const caFile = (): string => join(tlsDir, 'ca.crt');

  test('Prometheus reads the metrics with its token', async () => {
    await scraped({ tls: { caFile: caFile(), token: true } }, bothUp);
  });

  test('without a token it reads none', async () => {
    await scraped(
      { tls: { caFile: caFile(), token: false } },
      ['agent', 'controller'].map(
        (one) => `dustpan-${one} down server returned HTTP status 401 Unauthorized`,
      ),
    );
  });
});
