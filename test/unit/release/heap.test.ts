import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { controllerEnv, nodeFlagsFor, oldSpaceMiBFor } from '../../bench/controller-flags.ts';

const values = readFileSync('helm/dustpan/values.yaml', 'utf8');
const template = readFileSync('helm/dustpan/templates/controller/deployment.yaml', 'utf8');

test('the benches run the controller with what the chart sets by default', () => {
  expect(values).toContain(`nodeOptions: ${nodeFlagsFor(100_000)}\n`);
  for (const [name, value] of Object.entries(controllerEnv))
    expect(template).toMatch(new RegExp(`${name}[^\\n]*value: "?${value}`));
});

test.each([
  [1, 96],
  [150_000, 96],
  [150_001, 128],
  [350_000, 160],
])('for %d pods the old space is %d MiB, as the values say', (pods, expected) => {
  expect(oldSpaceMiBFor(pods)).toBe(expected);
  expect(values).toContain('set `--max-old-space-size` to 128 and add 32 for each further 100 000');
});
