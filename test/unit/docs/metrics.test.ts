import { describe, expect, test } from 'vitest';
import { faces, metricsOf, registrations, type MetricFacts } from '../../../scripts/generate/metrics-list.ts';
import { openLabels, placeLabels, upstreamMetrics } from '../../../scripts/generate/metrics-notes.ts';
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
    const loaded = loadedBy([`src/cli/${face}.ts`]);
    expect(makers.filter((file) => listed.has(file))).toEqual(makers.filter((file) => loaded.has(file)));
  });

  test('has every metric that these files name', () => {
    const run = loadedBy(faces.map((face) => `src/cli/${face}.ts`));
    const named = makers
      .filter((file) => run.has(file))
      .flatMap((file) => [...(sources.get(file) ?? '').matchAll(/\b(?:dustpan|process|nodejs)_[a-z0-9_]+/g)]);
    expect([...new Set(named.map(([name]) => name))].sort()).toEqual(namesOf(all));
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
  const labels = new Set(all.flatMap((metric) => [...metric.labels.keys()]));
  expect(
    [...Object.keys(openLabels), ...Object.keys(placeLabels)].filter((label) => !labels.has(label)),
  ).toEqual([]);
  expect(Object.keys(upstreamMetrics).filter((name) => !namesOf(all).includes(name))).toEqual([]);
});
