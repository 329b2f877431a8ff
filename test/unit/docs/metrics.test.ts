import { describe, expect, test } from 'vitest';
import {
  faces,
  isOfNode,
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
const byFace = { controller: await metricsOf('controller'), agent: await metricsOf('agent') };
const all = [...byFace.controller, ...byFace.agent];
const namesOf = (metrics: readonly MetricFacts[]): string[] =>
  [...new Set(metrics.map(({ name }) => name))].sort();

/** Files that make metrics. */
const makers = [...sources].flatMap(([file, text]) =>
  /new (Counter|Gauge|Histogram|Summary)\b/.test(text) ? file : [],
);

describe('the list of what is registered', () => {
  test.each(faces)('has every file that makes metrics and that the %s loads, and no other', (face) => {
    const listed = loadedBy(Object.keys(registrations[face]));
    const loaded = loadedBy([`src/commands/${face}/${face}.ts`]);
    expect(makers.filter((file) => listed.has(file))).toEqual(makers.filter((file) => loaded.has(file)));
  });

  test('has every metric that these files name', () => {
    const run = loadedBy(faces.map((face) => `src/commands/${face}/${face}.ts`));
    const named = makers
      .filter((file) => run.has(file))
      .flatMap((file) => [...(sources.get(file) ?? '').matchAll(/\bdustpan_[a-z0-9_]+/g)]);
    expect([...new Set(named.map(([name]) => name))].sort()).toEqual(
      namesOf(all).filter((name) => !isOfNode(name)),
    );
  });
});

describe('docs/reference/metrics.md', () => {
  const shared = namesOf(byFace.controller.filter(({ name }) => namesOf(byFace.agent).includes(name)));
  test.each([
    ['Of the controller', namesOf(byFace.controller).filter((name) => !shared.includes(name))],
    ['Of the agent', namesOf(byFace.agent).filter((name) => !shared.includes(name))],
    ['Of the controller and the agent', shared],
  ])('has exactly the metrics %s', (heading, names) => {
    expect(names.length).toBeGreaterThan(5);
    expect(entriesOf(partOf(page, heading))).toEqual(names);
  });

  test.each(all.map((metric) => [metric.name, metric] as const))('tells all of %s', (name, metric) => {
    const entry = page.split(`\n### \`${name}\`\n`)[1]?.split('\n#')[0] ?? '';
    const labels = [...entry.matchAll(/^- label `([^`]+)`: \S/gm)].map(([, label]) => label);
    expect(labels).toEqual([...metric.labels.keys()]);
    expect(entry).toContain(metric.help);
    if (name in upstreamMetrics) expect(entry).toContain(upstreamMetrics[name]);
  });
});

test('no note is about a label or a metric that is no more', () => {
  const labelsOf = (metrics: readonly MetricFacts[]): string[] =>
    metrics.flatMap((metric) => [...metric.labels.keys()]);
  const [own, ofNode] = [all.filter(({ name }) => !isOfNode(name)), all.filter(({ name }) => isOfNode(name))];
  const notes = [...Object.keys(openLabels), ...Object.keys(placeLabels)];
  expect(notes.filter((label) => !labelsOf(own).includes(label))).toEqual([]);
  expect(Object.keys(nodeLabels).sort()).toEqual([...new Set(labelsOf(ofNode))].sort());
  expect(Object.keys(upstreamMetrics).filter((name) => !namesOf(all).includes(name))).toEqual([]);
});
