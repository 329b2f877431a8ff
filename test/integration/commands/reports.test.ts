import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/commands/plan/document.ts';
import { planned } from './plan/fixture.ts';

const reports = join(process.cwd(), 'test', 'data', 'reports');
const folders = readdirSync(reports, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A decision of `expected.json`: fields that must be equal, or any other value than that of `not`. */
interface Expected {
  readonly unit: string;
  readonly object: object;
  readonly [field: string]: unknown;
}

/** The arguments of the command in a report's README, with absolute paths. */
function argsOf(folder: string): string[] {
  const text = readFileSync(join(reports, folder, 'README.md'), 'utf8');
  const command = /^dustpan plan (.*) -o json$/m.exec(text)?.[1];
  if (command === undefined) throw new Error(`no command in the README of ${folder}`);
  return command
    .split(' ')
    .map((word) => (word === 'policy.yaml' || word === 'snapshot' ? join(reports, folder, word) : word));
}

const isNot = (value: unknown): value is { readonly not: unknown } =>
  typeof value === 'object' && value !== null && 'not' in value;

/** The fields of the decision, each as `expected.json` must have it. */
const matching = (expected: Expected): object =>
  Object.fromEntries(
    Object.entries(expected).map(([field, value]) => [
      field,
      isNot(value) ? (expect.not.stringMatching(`^${String(value.not)}$`) as unknown) : value,
    ]),
  );

describe('situations of public bug reports', () => {
  test.each(folders)('%s', async (folder) => {
    const { decisions } = JSON.parse(readFileSync(join(reports, folder, 'expected.json'), 'utf8')) as {
      readonly decisions: readonly Expected[];
    };
    const plan: PlanDocument = await planned(argsOf(folder));
    for (const expected of decisions) {
      const object = expect.objectContaining(expected.object) as unknown;
      const found = plan.decisions.filter(
        (one) => one.verdict !== 'Warn' && one.unit === expected.unit && isAbout(one.object, expected.object),
      );
      expect(found).toEqual([expect.objectContaining({ ...matching(expected), object })]);
    }
  });
});

const isAbout = (object: object, wanted: object): boolean =>
  Object.entries(wanted).every(([field, value]) => (object as Record<string, unknown>)[field] === value);
