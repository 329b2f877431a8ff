import { describe, expect, test } from 'vitest';
import {
  components,
  isDefaultMetric,
  metricsOf,
  registrations,
  type MetricFacts,
} from '../../../scripts/generate/metrics-list.ts';
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
});
