import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../src/commands/plan/document.ts';
import { examples, planned } from './plan.bed.ts';

const folders = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The command of an example's README, with its files where they are. */
function argsOf(folder: string): string[] {
  const text = readFileSync(join(examples, folder, 'README.md'), 'utf8');
  const command = /`dustpan plan ([^`]*) -o json`/.exec(text)?.[1] ?? '';
  return command
    .split(' ')
    .map((word) => (word === 'policy.json' || word === 'snapshot' ? join(examples, folder, word) : word));
}

/** The fields of `expected.json` are those that must be equal: decisions in this order, those kept of a unit as a set, the summary. */
async function check(folder: string): Promise<void> {
  const expected = JSON.parse(readFileSync(join(examples, folder, 'expected.json'), 'utf8')) as PlanDocument;
  const plan = await planned(argsOf(folder));
  const isKept = ({ verdict }: Decision): boolean => verdict === 'Keep';
  const goes = (document: PlanDocument): Decision[] => document.decisions.filter((one) => !isKept(one));
  expect(goes(plan)).toMatchObject(goes(expected));
  const stays = expected.decisions.filter(isKept);
  // Some examples speak of one unit's kept objects alone.
  const units = new Set(stays.map(({ unit }) => unit));
  expect(plan.decisions.filter((one) => isKept(one) && units.has(one.unit))).toHaveLength(stays.length);
  for (const one of stays) expect(plan.decisions).toContainEqual(expect.objectContaining(matching(one)));
  expect(plan.summary).toHaveLength(expected.summary.length);
  expect(plan.summary).toMatchObject(expected.summary);
}

const matching = (one: Decision): object => ({
  ...one,
  object: expect.objectContaining(one.object) as unknown,
});

describe('the shared examples', () => {
  test('all are here', () => {
    expect(folders.length).toBeGreaterThanOrEqual(6);
  });

  test.each(folders)('%s', check);
});
