import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../src/commands/plan/document.ts';
import { examples, planned } from './plan/fixture.ts';

const reports = join(process.cwd(), 'test', 'data', 'reports');
const foldersOf = (place: string): readonly string[] =>
  readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** The plan by the command in the README of a folder, and its `expected.json`. */
async function plansOf(folder: string): Promise<readonly [plan: PlanDocument, expected: unknown]> {
  const command = /dustpan plan ([^`\n]*) -o json/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
  if (command === undefined) throw new Error(`no command in the README of ${folder}`);
  const isFile = (word: string): boolean => ['policy.json', 'policy.yaml', 'snapshot'].includes(word);
  const args = command.split(' ').map((word) => (isFile(word) ? join(folder, word) : word));
  return [await planned(args), JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))];
}

/** Compares the fields that `expected.json` has: removals in order, kept objects of a unit as a set, and the summary. */
async function check(folder: string): Promise<void> {
  const [plan, document] = await plansOf(join(examples, folder));
  const expected = document as PlanDocument;
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

/** A decision of `expected.json`: fields that must be equal, or any other value than that of `not`. */
interface Expected {
  readonly unit: string;
  readonly object: object;
  readonly [field: string]: unknown;
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

test.each(foldersOf(reports))('a situation of a public bug report: %s', async (folder) => {
  const [plan, document] = await plansOf(join(reports, folder));
  const { decisions } = document as { readonly decisions: readonly Expected[] };
  for (const expected of decisions) {
    const object = expect.objectContaining(expected.object) as unknown;
    const found = plan.decisions.filter(
      (one) => one.verdict !== 'Warn' && one.unit === expected.unit && isAbout(one.object, expected.object),
    );
    expect(found).toEqual([expect.objectContaining({ ...matching(expected), object })]);
  }
});

const isAbout = (object: object, wanted: object): boolean =>
  Object.entries(wanted).every(([field, value]) => (object as Record<string, unknown>)[field] === value);
