import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import {
  localStorageMetrics,
  localStorageReasons,
  podStorageMetrics,
  showPods,
  showUsage,
} from '../../../../src/agent/localstorage/metrics.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { showPlan, startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, emptyDir, governedBy, mib, storagePod, storagePolicy, usage } from './builders.ts';

const pods = [
  storagePod('scratch', { emptyDirs: [emptyDir('tmp', '100Mi'), emptyDir('shm', undefined, true)] }),
  storagePod('logger', { containers: [container('main', '200Mi')] }),
  storagePod('free'),
];

describe('the metrics of a plan', () => {
  const used = usage({
    scratch: {
      ...{ total: 150, volumes: { tmp: 130, shm: 64 }, atMs: minutesAgo(1) },
      containers: { main: { layer: 15, logs: 5 } },
    },
    logger: { total: 190, containers: { main: { layer: 90, logs: 100 } } },
  });
  const plan = planLocalStorage({ pods, usage: used }, { governance: governedBy(storagePolicy()), now });
  const registry = new Registry();
  const metrics = unitMetrics(registry);
  startMetrics(metrics, 'localstorage', localStorageReasons);
  showPlan(metrics, 'localstorage', localStorageReasons, { due: plan.evictions, kept: plan.kept });
  showUsage(localStorageMetrics(registry), { plan, pods, usage: used, now });

  test.each([
    'local_storage_warned_limits{eviction_signal="emptydirfs.limit"} 1',
    'local_storage_warned_limits{eviction_signal="ephemeralpodfs.limit"} 1',
    `local_storage_used_bytes{kind="layers"} ${105 * mib}`,
    `local_storage_used_bytes{kind="logs"} ${105 * mib}`,
    `local_storage_used_bytes{kind="emptydir"} ${130 * mib}`,
    `local_storage_used_bytes{kind="emptydir-memory"} ${64 * mib}`,
    `local_storage_used_bytes{kind="total"} ${340 * mib}`,
    'local_storage_usage_age_seconds 60',
  ])('%s', async (line) => {
    expect(await registry.metrics()).toContain(`dustpan_${line}\n`);
  });
});

describe('the metrics per pod', () => {
  test('are of the 256 pods with the highest usage, without deleted pods', async () => {
    const registry = new Registry();
    const metrics = podStorageMetrics(registry);
    const many = Array.from({ length: 300 }, (_, i) => storagePod(`p${i}`));
    const sizes = usage(Object.fromEntries(many.map(({ name }, i) => [name, { total: i }])));
    showPods(metrics, { pods: many, usage: sizes });
    const lines = (await registry.metrics()).split('\n').filter((line) => !/^(#|$)/.test(line));
    expect(lines).toHaveLength(256);
    expect(lines).toContain(`dustpan_pod_local_storage_used_bytes{namespace="web",pod="p299"} ${299 * mib}`);
    showPods(metrics, { pods: [], usage: sizes });
    expect(await registry.metrics()).not.toContain('web');
  });

  test('have no series for a pod whose total is not measured', async () => {
    const registry = new Registry();
    showPods(podStorageMetrics(registry), { pods, usage: usage({ free: { volumes: { tmp: 1 } } }) });
    expect(await registry.metrics()).not.toContain('web');
  });
});
