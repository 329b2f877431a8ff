import { describe, expect, test } from 'vitest';
import {
  components,
  isDefaultMetric,
  metricsOf,
  registrations,
  type MetricFacts,
} from '../../../scripts/generate/metrics-list.ts';
import {
  nodeLabels,
  openLabels,
  placeLabels,
  upstreamMetrics,
} from '../../../scripts/generate/metrics-notes.ts';
import { entriesOf, partOf, referencePage } from './page.ts';
import { loadedBy, sources } from './sources.ts';

const page = referencePage('metrics.md');
const byComponent = { controller: await metricsOf('controller'), agent: await metricsOf('agent') };
const all = [...byComponent.controller, ...byComponent.agent];
const namesOf = (metrics: readonly MetricFacts[]): string[] =>
  [...new Set(metrics.map(({ name }) => name))].sort();

/** Files that create metrics. */
const creators = [...sources].flatMap(([file, text]) =>
  /new (Counter|Gauge|Histogram|Summary)\b/.test(text) ? file : [],
);

describe('the list of registrations', () => {
  test.each(components)('has exactly the files of the %s that create metrics', (component) => {
    const listed = loadedBy(Object.keys(registrations[component]));
    const loaded = loadedBy([`src/commands/${component}/${component}.ts`]);
    expect(creators.filter((file) => listed.has(file))).toEqual(creators.filter((file) => loaded.has(file)));
  });
});

describe('docs/reference/metrics.md', () => {
  const shared = namesOf(
    byComponent.controller.filter(({ name }) => namesOf(byComponent.agent).includes(name)),
  );
  test.each([
    ['Controller', namesOf(byComponent.controller).filter((name) => !shared.includes(name))],
    ['Agent', namesOf(byComponent.agent).filter((name) => !shared.includes(name))],
    ['Controller and agent', shared],
  ])('has exactly the metrics %s', (heading, names) => {
    expect(names.length).toBeGreaterThan(5);
    expect(entriesOf(partOf(page, heading))).toEqual(names);
  });

  test.each(all.map((metric) => [metric.name, metric] as const))(
    'describes %s completely',
    (name, metric) => {
      const entry = page.split(`\n### \`${name}\`\n`)[1]?.split('\n#')[0] ?? '';
      const labels = [...entry.matchAll(/^- label `([^`]+)`: \S/gm)].map(([, label]) => label);
      expect(labels).toEqual([...metric.labels.keys()]);
      expect(entry).toContain(metric.help);
      if (name in upstreamMetrics) expect(entry).toContain(upstreamMetrics[name]);
    },
  );
});

test('every note is about an existing label or metric', () => {
  const labelsOf = (metrics: readonly MetricFacts[]): string[] =>
    metrics.flatMap((metric) => [...metric.labels.keys()]);
  const [own, ofNode] = [
    all.filter(({ name }) => !isDefaultMetric(name)),
    all.filter(({ name }) => isDefaultMetric(name)),
  ];
  const notes = [...Object.keys(openLabels), ...Object.keys(placeLabels)];
  expect(notes.filter((label) => !labelsOf(own).includes(label))).toEqual([]);
  expect(Object.keys(nodeLabels).sort()).toEqual([...new Set(labelsOf(ofNode))].sort());
  expect(Object.keys(upstreamMetrics).filter((name) => !namesOf(all).includes(name))).toEqual([]);
});
