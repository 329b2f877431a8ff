import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../../../src/commands/plan/document.ts';
import { planJson } from '../../../../src/commands/plan/json.ts';
import { planYaml } from '../../../../src/commands/plan/yaml.ts';
import { decision } from './builders.ts';

const plan = (count: number): PlanDocument => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'Plan',
  generatedAt: '2026-01-15T12:00:00Z',
  decisions: Array.from({ length: count }, (_, i) =>
    decision({
      ...{ unit: 'podgc', verdict: 'Delete', reason: 'Terminated', detail: 'It "@" goes.' },
      object: { kind: 'Pod', namespace: 'a', name: `"@" ${i}\n`, uid: 'u', node: null },
      ...{ policy: '@', mode: 'DryRun', order: i + 1 },
    }),
  ),
  summary: [],
  totals: [],
  policies: [],
  notes: ['"@"'],
});

test.each([0, 1, 2, 500, 501, 1200])('the pieces of %i decisions are the whole', (count) => {
  const document = plan(count);
  expect([...planJson(document)].join('')).toBe(`${JSON.stringify(document, undefined, 2)}\n`);
});

test.each([0, 1, 2, 500, 501, 1200])('… and as YAML', (count) => {
  const document = plan(count);
  expect(load([...planYaml(document)].join(''))).toEqual(document);
});
