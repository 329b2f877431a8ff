import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import type { Explanation, ExplanationDocument } from '../../../src/evaluation/why/explain.ts';
import { expectedOf, foldersOf, planArguments } from './cases.ts';
import { dustpan } from './plan/fixture.ts';

const reports = join(process.cwd(), 'test', 'data', 'reports');

/** Fields of a decision. A value is equal, or another one than that of `not`. */
interface Fields {
  readonly object?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface Texts {
  readonly says?: readonly string[];
  readonly saysNot?: readonly string[];
}

interface ExpectedAnswer extends Texts {
  readonly object: { readonly namespace: string; readonly name: string };
  readonly unit?: string;
  readonly stuck?: false | (Texts & { readonly cause?: string });
}

/** The format of `expected.json`, as the README of the reports explains it. */
interface Expected {
  readonly decisions?: readonly Fields[];
  readonly never?: readonly Fields[];
  readonly notes?: readonly string[];
  readonly exit?: number;
  readonly stderr?: readonly string[];
  readonly why?: readonly ExpectedAnswer[];
  readonly anyOf?: readonly Expected[];
}

type Outcome = Awaited<ReturnType<typeof dustpan>>;

test.each(foldersOf(reports))('a situation of a public bug report: %s', async (name) => {
  const folder = join(reports, name);
  const args = planArguments(folder);
  const outcome = await dustpan(['plan', ...args, '-o', 'json']);
  await holds(expectedOf(folder) as Expected, { outcome, args });
});

interface Case {
  readonly outcome: Outcome;
  readonly args: readonly string[];
}

async function holds(expected: Expected, present: Case): Promise<void> {
  if (expected.anyOf !== undefined) await oneOf(expected.anyOf, present);
  if (Object.keys(expected).every((key) => key === 'anyOf')) return;
  const { outcome, args } = present;
  expect(outcome).toMatchObject({ code: expected.exit ?? 0 });
  says(outcome.stderr, { says: expected.stderr ?? [] });
  if (outcome.code === 0) planHolds(expected, JSON.parse(outcome.stdout) as PlanDocument);
  for (const answer of expected.why ?? []) await answerHolds(answer, args);
}

async function oneOf(documents: readonly Expected[], present: Case): Promise<void> {
  const failures: unknown[] = [];
  for (const document of documents) {
    try {
      await holds(document, present);
      return;
    } catch (err) {
      failures.push(err);
    }
  }
  throw new AggregateError(failures, failures.map(String).join('\n'));
}

function planHolds({ decisions = [], never = [], notes = [] }: Expected, plan: PlanDocument): void {
  for (const expected of decisions) {
    const found = plan.decisions.filter(
      (one) =>
        one.verdict !== 'Warn' && one.unit === expected['unit'] && isAbout(one.object, expected.object),
    );
    expect(found).toEqual([expect.objectContaining(matching(expected))]);
  }
  for (const unwanted of never)
    expect(plan.decisions).not.toContainEqual(expect.objectContaining(matching(unwanted)));
  says(plan.notes.join('\n'), { says: notes });
}

const isAbout = (object: object, wanted: object = {}): boolean =>
  Object.entries(wanted).every(([field, value]) => (object as Record<string, unknown>)[field] === value);

/** The fields of a decision, each as `expected.json` must have it. */
const matching = ({ object, ...fields }: Fields): object => ({
  ...Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      isNot(value) ? (expect.not.stringMatching(`^${String(value.not)}$`) as unknown) : value,
    ]),
  ),
  object: expect.objectContaining(object ?? {}) as unknown,
});

const isNot = (value: unknown): value is { readonly not: unknown } =>
  typeof value === 'object' && value !== null && 'not' in value;

async function answerHolds(expected: ExpectedAnswer, args: readonly string[]): Promise<void> {
  const { namespace, name } = expected.object;
  const facts = args.filter((word) => word !== '--kept');
  const { stdout, stderr } = await dustpan(['why', 'pod', `${namespace}/${name}`, ...facts, '-o', 'json']);
  expect(stderr).not.toContain('dustpan: ');
  const { explanations, stuck } = JSON.parse(stdout) as ExplanationDocument;
  const about = explanations.filter(
    (one) => one.verdict !== 'Warn' && (expected.unit ?? one.unit) === one.unit,
  );
  expect(about).not.toEqual([]);
  for (const one of about) says(textOf(one), expected);
  if (expected.stuck === false) expect(stuck ?? null).toBeNull();
  if (typeof expected.stuck === 'object') {
    expect(stuck).toMatchObject(expected.stuck.cause === undefined ? {} : { cause: expected.stuck.cause });
    says(stuck?.detail ?? '', expected.stuck);
  }
}

const textOf = ({ detail, sentence, change, caution }: Explanation): string =>
  [detail, sentence, change, caution].join('\n');

function says(text: string, { says: texts = [], saysNot = [] }: Texts): void {
  for (const one of texts) expect(text).toContain(one);
  for (const one of saysNot) expect(text).not.toContain(one);
}
