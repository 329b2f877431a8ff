import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { expectedOf, foldersOf, planArguments } from './cases.ts';
import { examples, planned } from './plan/fixture.ts';

/** Compares the fields that `expected.json` has: removals in order, kept objects of a unit as a set, and the summary. */
async function check(folder: string): Promise<void> {
  const plan = await planned(planArguments(join(examples, folder)));
  const expected = expectedOf(join(examples, folder)) as PlanDocument;
  const isKept = ({ verdict }: Decision): boolean => verdict === 'Keep';
  const removals = (document: PlanDocument): Decision[] => document.decisions.filter((one) => !isKept(one));
  expect(removals(plan)).toMatchObject(removals(expected));
  const kept = expected.decisions.filter(isKept);
  // Some examples list the kept objects of one unit only.
  const units = new Set(kept.map(({ unit }) => unit));
  expect(plan.decisions.filter((one) => isKept(one) && units.has(one.unit))).toHaveLength(kept.length);
  for (const one of kept) expect(plan.decisions).toContainEqual(expect.objectContaining(likeIt(one)));
  expect(plan.summary).toHaveLength(expected.summary.length);
  expect(plan.summary).toMatchObject(expected.summary);
}

const likeIt = (one: Decision): object => ({
  ...one,
  object: expect.objectContaining(one.object) as unknown,
});

test.each(foldersOf(examples))('a shared example: %s', check);
