import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from '../../bench/controller-runtime.ts';

const values = readFileSync('helm/dustpan/values.yaml', 'utf8');
const template = readFileSync('helm/dustpan/templates/controller/deployment.yaml', 'utf8');

test('the benchmarks run the controller with the chart’s default flags', () => {
  expect(values).toContain(`nodeOptions: ${nodeArgs(oldSpaceMbFor(100_000))}\n`);
  for (const variable of controllerEnv.split(' '))
    expect(template).toMatch(new RegExp(variable.replace('=', '[^\\n]*value: "?')));
});

test.each([
  [1, 96],
  [150_000, 96],
  [150_001, 128],
  [350_000, 160],
])('for %d pods the old space is %d MiB, as in values.yaml', (pods, expected) => {
  expect(oldSpaceMbFor(pods)).toBe(expected);
  expect(values).toContain('32 more for each further 100 000');
});
