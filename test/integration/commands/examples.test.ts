import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../src/commands/plan/document.ts';
import { examples, planned } from './plan/fixture.ts';

const folders = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The arguments of the command in an example's README, with absolute paths. */
function argsOf(folder: string): string[] {
  const text = readFileSync(join(examples, folder, 'README.md'), 'utf8');
  const command = /`dustpan plan ([^`]*) -o json`/.exec(text)?.[1] ?? '';
  return command
    .split(' ')
    .map((word) => (word === 'policy.json' || word === 'snapshot' ? join(examples, folder, word) : word));
}

/** Compares the fields that `expected.json` has: removals in order, kept objects of a unit as a set, and the summary. */
async function check(folder: string): Promise<void> {
  const expected = JSON.parse(readFileSync(join(examples, folder, 'expected.json'), 'utf8')) as PlanDocument;
  const plan = await planned(argsOf(folder));
  const isKept = ({ verdict }: Decision): boolean => verdict === 'Keep';
  const removals = (document: PlanDocument): Decision[] => document.decisions.filter((one) => !isKept(one));
  expect(removals(plan)).toMatchObject(removals(expected));
  const kept = expected.decisions.filter(isKept);
  // Some examples list the kept objects of one unit only.
  const units = new Set(kept.map(({ unit }) => unit));
  expect(plan.decisions.filter((one) => isKept(one) && units.has(one.unit))).toHaveLength(kept.length);
  for (const one of kept) expect(plan.decisions).toContainEqual(expect.objectContaining(matching(one)));
  expect(plan.summary).toHaveLength(expected.summary.length);
  expect(plan.summary).toMatchObject(expected.summary);
}

const matching = (one: Decision): object => ({
  ...one,
  object: expect.objectContaining(one.object) as unknown,
});

describe('the shared examples', () => {
  test('exist', () => {
    expect(folders.length).toBeGreaterThanOrEqual(6);
  });

  test.each(folders)('%s', check);
});
