import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Offender } from '../../../../src/api/report/node-pass.ts';
import { inventoryOf } from '../../../../src/agent/localstorage/inventory.ts';
import {
  localStorageMetrics,
  podStorageMetrics,
  showPlan,
  showPods,
} from '../../../../src/agent/localstorage/metrics.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, emptyDir, governedBy, mib, storagePod, storagePolicy, usage } from './builders.ts';

const pods = [
  storagePod('scratch', { emptyDirs: [emptyDir('tmp', '100Mi'), emptyDir('shm', undefined, true)] }),
  storagePod('logger', { containers: [container('main', '200Mi')] }),
  storagePod('free'),
];
const used = usage({
  scratch: {
    ...{ total: 150, volumes: { tmp: 130, shm: 64 }, atMs: minutesAgo(1) },
    containers: { main: { layer: 15, logs: 5 } },
  },
  logger: { total: 190, containers: { main: { layer: 90, logs: 100 } } },
});
const storage = storagePolicy();
const governance = governedBy(storage);
const governed = { kind: 'governed', policy: governance.policy, rule: storage } as const;
const plan = planLocalStorage({ pods, usage: used }, { governance, now });

describe('the metrics of a plan', () => {
  const registry = new Registry();
  showPlan(localStorageMetrics(registry), { plan, pods, usage: used, mode: 'Enforce', now });

  test.each([
    'due_pods{eviction_signal="emptydirfs.limit",mode="Enforce"} 1',
    'due_pods{eviction_signal="emptydirfs.limit",mode="DryRun"} 0',
    'kept_pods{reason="UnderLimit"} 1',
    'kept_pods{reason="NoLimit"} 1',
    'kept_pods{reason="CriticalPod"} 0',
    'warned_limits{eviction_signal="emptydirfs.limit"} 1',
    'warned_limits{eviction_signal="ephemeralpodfs.limit"} 1',
    `used_bytes{kind="layers"} ${105 * mib}`,
    `used_bytes{kind="logs"} ${105 * mib}`,
    `used_bytes{kind="emptydir"} ${130 * mib}`,
    `used_bytes{kind="emptydir-memory"} ${64 * mib}`,
    `used_bytes{kind="total"} ${340 * mib}`,
    'usage_age_seconds 60',
  ])('%s', async (line) => {
    expect(await registry.metrics()).toContain(`dustpan_local_storage_${line}\n`);
  });

  test('there are as many series, however many pods there are', async () => {
    expect(await registry.metrics()).not.toContain('scratch');
  });
});

test('who asks for series of pods gets those of the largest, and no more of one that is gone', async () => {
  const registry = new Registry();
  const metrics = podStorageMetrics(registry);
  const many = Array.from({ length: 300 }, (_, i) => storagePod(`p${i}`));
  const sizes = usage(Object.fromEntries(many.map(({ name }, i) => [name, { total: i }])));
  showPods(metrics, { pods: many, usage: sizes });
  const lines = (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#') && line !== '');
  expect(lines).toHaveLength(256);
  expect(lines).toContain(`dustpan_pod_local_storage_used_bytes{namespace="web",pod="p299"} ${299 * mib}`);
  showPods(metrics, { pods: [], usage: sizes });
  expect(await registry.metrics()).not.toContain('web');
});

test('a pod whose total nobody measured has no series', async () => {
  const registry = new Registry();
  showPods(podStorageMetrics(registry), { pods, usage: usage({ free: { volumes: { tmp: 1 } } }) });
  expect(await registry.metrics()).not.toContain('web');
});

test('a volume that nobody measured makes up nothing of its pod', () => {
  const { offenders } = inventoryOf({
    governed,
    pods,
    usage: usage({ scratch: { total: 9 } }),
    plan,
    warnings: [],
  });
  expect(offenders).toMatchObject([{ kind: 'Pod', name: 'scratch', bytes: 9 * mib }]);
});

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('of pods that exceed alike, %s and %s, the first by UID is asked for first', (...names) => {
  const alike = names.map((name) => storagePod(name, { emptyDirs: [emptyDir('tmp', '100Mi')] }));
  const worst = storagePod('worst', { emptyDirs: [emptyDir('tmp', '100Mi')] });
  const full = usage({
    a: { volumes: { tmp: 130 } },
    b: { volumes: { tmp: 130 } },
    worst: { volumes: { tmp: 131 } },
  });
  const made = planLocalStorage({ pods: [...alike, worst], usage: full }, { governance, now });
  const { evictionRequests } = inventoryOf({ governed, pods: alike, usage: full, plan: made, warnings: [] });
  expect(evictionRequests.map(({ pod: { name } }) => name)).toEqual(['worst', 'a', 'b']);
});

test('the largest are pods, or the volume that makes up most of one', () => {
  const { offenders } = inventoryOf({ governed, pods, usage: used, plan, warnings: [] });
  expect(offenders).toEqual<Offender[]>([
    {
      ...{ kind: 'Pod', id: 'uid-logger', name: 'logger', namespace: 'web' },
      ...{ bytes: 190 * mib, reason: 'UnderLimit' },
    },
    {
      ...{ kind: 'Volume', id: 'uid-scratch', name: 'scratch/tmp', namespace: 'web' },
      ...{ bytes: 130 * mib, reason: 'emptydirfs.limit' },
    },
  ]);
});
