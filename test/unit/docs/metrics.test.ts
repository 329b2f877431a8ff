import { describe, expect, test } from 'vitest';
import { metricsOf, type MetricFacts } from '../../../scripts/generate/metrics-list.ts';
import { entriesOf, partOf, referencePage } from './page.ts';

const page = referencePage('metrics.md');
const byComponent = { controller: await metricsOf('controller'), agent: await metricsOf('agent') };
const namesOf = (metrics: readonly MetricFacts[]): string[] =>
  [...new Set(metrics.map(({ name }) => name))].sort();

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
