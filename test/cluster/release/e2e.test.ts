// @bed node
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import { condition, imageTags } from '../agent/environment.ts';
import { chartDirectory } from '../chart/chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import {
  account,
  applyAfterLost,
  batch,
  deletedBy,
  dustpanPods,
  grantsOf,
  greedy,
  leftBehind,
  namespace,
  twoOfThreeMissing,
  policyOfRelease,
  quickPolicy,
  renewMs,
  rows,
  scraped,
  releaseValues,
  workloads,
} from './e2e-environment.ts';
import { busyboxImage } from '../node/image.ts';
import { createOverruns } from '../local-storage/pods.ts';
import { accessesOf, rbacDifferences, type Access, type Grant } from './rbac-usage.ts';
import { repositoryRoot } from '../repository.ts';
import { apply, helm, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

/** One life of a release on a real node, in the order of its tests: installed, followed, upgraded, uninstalled. */
const dir = mkdtempSync(join(tmpdir(), 'dustpan-e2e-'));
const storage = { warnAtPercent: [50], evictAtPercent: 90 };
const unused = { ...busyboxImage, ref: 'bed.test/unused:1', fill: { bytes: 4e6, kind: 'random' } } as const;
const kept = { ...busyboxImage, ref: 'bed.test/kept:1', fill: { bytes: 1e6, kind: 'random' } } as const;
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    images: [dustpanImage({ root: repositoryRoot() }), busyboxImage, unused, kept],
    kubelet: { config: { volumeStatsAggPeriod: '2s' } },
  });
});

const see = (...args: readonly string[]): Promise<string> => kubectl(cluster, args);

const release = ['--namespace', namespace, '--wait', '--timeout=300s'];

const upgrade = (chart: string, ...args: readonly string[]): Promise<string> =>
  helm(cluster, 'upgrade', 'dustpan', chart, ...release, '--reuse-values', ...args);

const sets = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(values).map(([path, value]) => `--set-json=${path}=${JSON.stringify(value)}`);

const isGone = (pod: string) => async (): Promise<boolean> =>
  (await see('get', 'pod', pod, '--ignore-not-found', '-o', 'name')) === '';

const events = (reason: string): Promise<string> =>
  see('get', 'events', '-A', `--field-selector=reason=${reason}`);

describe('installed, with dry-run policies', () => {
  beforeAll(async () => {
    const args = [...release, '--create-namespace', ...sets(releaseValues)];
    await helm(cluster, 'install', 'dustpan', chartDirectory, ...args);
    await see('apply', '-f', join(repositoryRoot(), 'examples'));
    await apply(cluster, ...workloads);
    await createOverruns(cluster, { greedy });
  });

  test('reports what could be removed, and removes nothing', async () => {
    await waitUntil('a pod has finished', async () => /done .*Completed/.test(await see('get', 'pods')));
    const policies = async (): Promise<readonly string[]> => rows(await see('get', 'gcpolicy'));
    await expect
      .poll(policies, eventually)
      .toEqual(
        expect.arrayContaining([expect.stringMatching(/^default \| DryRun \| 0 \| True \| False \| 1 \|/)]),
      );
    expect(await policies()).toHaveLength(1 + 5);
    await expect
      .poll(async () => rows(await see('get', 'nodegcreports')), eventually)
      .toEqual([
        'NAME | POLICY | IMAGE FS % | REMOVABLE | WARNINGS | DEGRADED | AGE',
        // The images are too young; this policy has no rule for local storage.
        expect.stringMatching(/^node-a \| default \| \d+ \| 0 \| False \| /),
      ]);
    expect(await isGone('done')()).toBe(false);
    expect(await imageTags(cluster)).toContain(unused.ref);
  });

  test('`kubectl explain` describes every field', async () => {
    const fields = await see('explain', 'gcpolicy.spec', '--recursive');
    expect(fields).toContain('ttlAfterFinished\t<string>');
    expect(fields).toContain('evictAtPercent\t<integer>');
    expect(await see('explain', 'gcpolicy.spec.pods.terminated.ttlAfterFinished')).toContain('such as 24h');
  });
});

describe('with a policy that enforces, without a restart', () => {
  let before: Readonly<Record<string, string>>;
  let web: string;
  const webPod = (): Promise<string> =>
    see('get', 'pods', '--selector=app=web', '-o=jsonpath={.items[*].metadata.uid}');

  beforeAll(async () => {
    before = await dustpanPods(cluster);
    web = await webPod();
    await applyAfterLost(cluster, quickPolicy(storage), batch);
  });

  test('deletes finished pods except the newest of each owner', async () => {
    await waitUntil('the finished pod is gone', isGone('done'));
    const ofJob = ['get', 'pods', '--selector=job-name=batch', '-o=jsonpath={.items[*].status.phase}'];
    await see('wait', '--for=condition=complete', 'job/batch', '--timeout=300s');
    await expect.poll(() => see(...ofJob), eventually).toBe('Succeeded');
    await expect
      .poll(() => events('PodCollected'), eventually)
      .toMatch(/Normal +PodCollected +pod\/done +Deleted 1 pod \(Expired, policy quick\)/);
    await expect.poll(() => events('PodCollected'), eventually).toMatch(/PodCollected +job\/batch/);
    const leads = 'dustpan_leader_election_master_status{name="dustpan-controller"}';
    expect(await scraped(cluster, 'controller', leads)).toBe(1);
  });

  test('removes unused images, and keeps those in use or on the keep list', async () => {
    await expect.poll(() => imageTags(cluster), eventually).not.toContain(unused.ref);
    const left = await imageTags(cluster);
    expect(left).toEqual(expect.arrayContaining([kept.ref, busyboxImage.ref, 'bed.test/pause:1']));
    expect(left.join()).toContain('dustpan:');
    const removed = 'dustpan_image_garbage_collected_total{reason="age"}';
    await expect.poll(() => scraped(cluster, 'agent', removed), eventually).toBe(1);
  });

  test('warns a pod, and evicts it over its limit', async () => {
    await expect.poll(() => see('describe', 'pod', 'greedy'), eventually).toContain('LocalStorageHigh');
    await see('exec', 'greedy', '--', 'touch', '/go/on');
    await waitUntil('it is evicted', isGone('greedy'));
    await expect
      .poll(() => events('Evicted'), eventually)
      .toMatch(/pod\/greedy +Usage of EmptyDir volume "cache"/);
    const evictions = 'dustpan_evictions_total{eviction_signal="emptydirfs.limit"}';
    expect(await scraped(cluster, 'controller', evictions)).toBe(1);
  });

  test('deletes a pod of a deleted node', async () => {
    for (const name of ['lost-1', 'lost-2']) await waitUntil(`pod ${name} is gone`, isGone(name));
    // The circuit breaker of the dry-run policies opens with two of three nodes missing.
    await expect.poll(() => see('describe', 'gcpolicy', 'default'), eventually).toMatch(twoOfThreeMissing);
  });

  test('`kubectl describe` shows a node that cannot be freed', async () => {
    await apply(cluster, quickPolicy(storage, { highThresholdPercent: 1, lowThresholdPercent: 0 }));
    await expect
      .poll(() => see('describe', 'node', cluster.node.name), eventually)
      .toMatch(/Warning +FreeDiskSpaceFailed .*dustpan/);
    const again = ['get', 'events.v1.events.k8s.io', '--field-selector=reason=FreeDiskSpaceFailed'];
    // One Event that counts, not a new one every pass.
    await expect
      .poll(() => see(...again, '-o=jsonpath={.items[*].series.count}'), eventually)
      .toMatch(/^\d+$/);
    await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True TargetMissed');
    await expect
      .poll(() => see('get', 'gcpolicy', 'quick'), eventually)
      .toMatch(/quick +Enforce +100 +True +True/);
    await apply(cluster, quickPolicy(storage));
    await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  });

  test('touches nothing else, and restarts nothing', async () => {
    const deleted = await deletedBy(cluster, account('controller'));
    // Until its kubelet removes it the evicted pod is a failed one: a pass in that moment deletes it first.
    expect(deleted.join(' ')).toMatch(
      /^(pods\/batch-\w+ ){4}pods\/done (pods\/greedy )?pods\/lost-1 pods\/lost-2$/,
    );
    await expect
      .poll(async () => rows(await see('get', 'gcpolicy', 'quick', '-o', 'wide')), eventually)
      .toEqual([
        'NAME | MODE | PRIORITY | ACCEPTED | DEGRADED | NODES | DESIRED | DUE | ON HOLD | DELETED | REASON | LAST PASS | AGE',
        expect.stringMatching(
          `^quick \\| Enforce \\| 100 \\| True \\| False \\| 1 \\| 1 \\| 0 \\| ${deleted.length} \\| AsPlanned \\| \\w+ \\| \\w+$`,
        ),
      ]);
    expect(await webPod()).toBe(web);
    expect(await dustpanPods(cluster)).toEqual(before);
  });
});

describe('upgraded', () => {
  const kept = [
    'get',
    'gcpolicies,crds',
    '-o=jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}',
  ];
  const accepted =
    '-o=jsonpath={.spec.pods.terminated.ttlAfterFinished} {.status.conditions[?(@.type=="Accepted")].status}';

  test.each(['1h', '2h'])('restarts nothing when the policy of the release says %s', async (ttl) => {
    const before = await dustpanPods(cluster);
    await upgrade(chartDirectory, ...sets({ extraObjects: [policyOfRelease(ttl)] }));
    await expect.poll(() => see('get', 'gcpolicy', 'of-release', accepted), eventually).toBe(`${ttl} True`);
    expect(await dustpanPods(cluster)).toEqual(before);
  });

  test('keeps CRDs and policies with another chart', async () => {
    const chart = join(dir, 'chart');
    cpSync(chartDirectory, chart, { recursive: true });
    const file = join(chart, 'Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*$/m, 'version: 0.9.9'));
    const before = await see(...kept);
    const annotations = { 'example.com/by': 'e2e' };
    await upgrade(chart, ...sets({ 'crds.annotations': annotations }));
    expect(await helm(cluster, 'list', '--namespace', namespace)).toContain('dustpan-0.9.9');
    expect(await see(...kept)).toBe(before);
    expect(await see('get', 'crds', '-o=jsonpath={.items[*].metadata.annotations.example\\.com/by}')).toBe(
      'e2e e2e',
    );
    await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  });
});

describe('uninstalled', () => {
  let grants: Readonly<Record<'controller' | 'agent', readonly Grant[]>>;
  let accesses: Readonly<Record<'controller' | 'agent', readonly Access[]>>;

  beforeAll(async () => {
    grants = { controller: await grantsOf(cluster, 'controller'), agent: await grantsOf(cluster, 'agent') };
    // Requests from here on are forbidden because the uninstall removes the rights.
    const log = await cluster.audit();
    accesses = {
      controller: accessesOf(account('controller'), log),
      agent: accessesOf(account('agent'), log),
    };
  });

  const exact = { forbidden: [], missing: [], unused: [], excusedInVain: [] };

  test.each([
    {
      component: 'controller',
      excused: { 'patch events.k8s.io/events': 'no Event of these minutes is repeated' },
    },
    { component: 'agent', excused: { 'get apps/daemonsets': 'no agent has ended' } },
  ] as const)('the $component has every right that it uses, and no other', ({ component, excused }) => {
    expect(rbacDifferences(grants[component], accesses[component], excused)).toEqual(exact);
  });

  test('is removed at once, and leaves the CRDs, the policies and its Lease', async () => {
    const policies = await see('get', 'gcpolicies', '-o', 'name');
    const start = performance.now();
    await helm(cluster, 'uninstall', 'dustpan', ...release);
    await waitUntil(
      'no pod is left',
      async () => (await see('get', 'pods', '-n', namespace, '-o', 'name')) === '',
    );
    // The renew deadline, for so long it would try to release the Lease that it may not write any more.
    expect(performance.now() - start).toBeLessThan(renewMs);
    const crd = 'customresourcedefinition.apiextensions.k8s.io';
    expect(await leftBehind(cluster)).toEqual([
      `${crd}/gcpolicies.gc.dustpan.dev`,
      `${crd}/nodegcreports.gc.dustpan.dev`,
      'lease.coordination.k8s.io/dustpan-controller',
    ]);
    // The release's own policy is removed with it.
    const left = policies.split('\n').filter((name) => !name.endsWith('/of-release'));
    expect(await see('get', 'gcpolicies', '-o', 'name')).toBe(left.join('\n'));
  });
});
