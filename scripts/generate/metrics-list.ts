import { Registry } from 'prom-client';
import { containerGcMetrics } from '../../src/agent/containergc/metrics.ts';
import { imageGcMetrics } from '../../src/agent/imagegc/metrics.ts';
import { reportMetrics, showOrphans } from '../../src/agent/report/metrics.ts';
import { leftoverMetrics, showLeftovers } from '../../src/agent/leftovers/metrics.ts';
import { localStorageMetrics, podStorageMetrics } from '../../src/agent/localstorage/metrics.ts';
import { nodePressureMetrics } from '../../src/agent/nodepressure/metrics.ts';
import { usageMetrics } from '../../src/agent/usage/metrics.ts';
import { agentMetrics } from '../../src/daemon/agent/metrics.ts';
import { controllerMetrics } from '../../src/daemon/controller/metrics.ts';
import { budgetMetrics } from '../../src/controllers/budgets/metrics.ts';
import { evictionMetrics } from '../../src/controllers/eviction/metrics.ts';
import { podGcMetrics } from '../../src/controllers/podgc/metrics.ts';
import { policyStatusMetrics } from '../../src/controllers/policystatus/metrics.ts';
import { registerProcessMetrics } from '../../src/runtime/serving/process-metrics.ts';

type Component = 'controller' | 'agent';
export const components: readonly Component[] = ['controller', 'agent'];

/** Functions that register the metrics of a component, by file. */
const registrations: Readonly<Record<Component, Readonly<Record<string, (registry: Registry) => void>>>> = {
  controller: {
    'src/controllers/podgc/metrics.ts': (registry) => podGcMetrics(registry),
    'src/controllers/eviction/metrics.ts': (registry) => evictionMetrics(registry),
    'src/controllers/budgets/metrics.ts': (registry) => budgetMetrics(registry),
    'src/controllers/policystatus/metrics.ts': (registry) => policyStatusMetrics(registry),
    'src/daemon/controller/metrics.ts': (registry) => controllerMetrics(registry, 'dustpan-controller'),
    'src/runtime/serving/process-metrics.ts': showProcess,
  },
  agent: {
    'src/agent/imagegc/metrics.ts': (registry) => imageGcMetrics(registry),
    'src/agent/containergc/metrics.ts': (registry) => containerGcMetrics(registry),
    'src/agent/leftovers/metrics.ts': showNoLeftovers,
    'src/agent/localstorage/metrics.ts': showNoStorage,
    'src/agent/nodepressure/metrics.ts': (registry) => nodePressureMetrics(registry),
    'src/agent/report/metrics.ts': showNothingLeft,
    'src/agent/usage/metrics.ts': (registry) => usageMetrics(registry),
    'src/daemon/agent/metrics.ts': (registry) => agentMetrics(registry),
    'src/runtime/serving/process-metrics.ts': showProcess,
  },
};

/** One metric, with the label values that exist from the start. */
export interface MetricFacts {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** In the order of their declaration; empty = no preset values. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

/** Whether a metric is one of prom-client's defaults. */
export const isDefaultMetric = (name: string): boolean => /^(nodejs|process)_/.test(name);

/** All metrics of a component, sorted by name. */
export async function metricsOf(component: Component): Promise<readonly MetricFacts[]> {
  const registry = new Registry();
  for (const register of Object.values(registrations[component])) register(registry);
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .map(({ name, help, type, values }) => ({
      ...{ name, help: help.replace(/^\[ALPHA\] /, ''), type: String(type) },
      labels: new Map(labelsOf(registry, name).map((label) => [label, presetOf(values, label)])),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Reads `labelNames`, which prom-client's types do not declare. */
function labelsOf(registry: Registry, name: string): readonly string[] {
  const metric: object = registry.getSingleMetric(name) ?? {};
  const labels: unknown = 'labelNames' in metric ? metric.labelNames : undefined;
  if (!Array.isArray(labels)) throw new Error(`${name} has no labelNames`);
  return labels.filter((label) => typeof label === 'string');
}

interface Labelled {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
}

function presetOf(values: readonly Labelled[], label: string): readonly string[] {
  const preset = values.flatMap(({ labels }) => (labels[label] === undefined ? [] : String(labels[label])));
  return [...new Set(preset)];
}

function showNothingLeft(registry: Registry): void {
  const none = { count: 0, bytes: 0, largest: [], isReadOnly: false };
  const orphans = { podDirectories: none, logDirectories: none, podCgroups: none };
  showOrphans(reportMetrics(registry), orphans);
}

function showNoLeftovers(registry: Registry): void {
  const directories = { withoutSnapshot: 0, missing: 0 };
  showLeftovers(leftoverMetrics(registry), { leftovers: [], directories });
}

function showNoStorage(registry: Registry): void {
  localStorageMetrics(registry);
  podStorageMetrics(registry);
}

function showProcess(registry: Registry): void {
  registerProcessMetrics(registry, { version: '0.1.0', revision: 'abcdef0' });
}
