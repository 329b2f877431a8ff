import { expect, test } from 'vitest';
import type { NodesPolicy } from '../../../../src/api/policy/policy.ts';
import type { Reason } from '../../../../src/api/reasons.ts';
import { unitPlan, type Decision, type PlanObject } from '../../../../src/evaluation/plan/document.ts';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import { explain, type ExplanationDocument } from '../../../../src/evaluation/why/explain.ts';
import type { Question } from '../../../../src/evaluation/why/question.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { findTarget } from '../../../../src/evaluation/why/target.ts';
import type { Decision as Planned, Unit } from '../../../../src/gc/decision.ts';
import type { Why } from '../../../../src/gc/words.ts';
import { everything, now } from '../../../builders.ts';
import { factsOf, nodesBy, nodesPolicy, type Facts } from '../facts.ts';
import { plan } from '../plan/builders.ts';

/** What leads to each reason, by a name that says what is special about it. */
export type Cases<R extends Reason, C = Facts> = Readonly<Record<R, Readonly<Record<string, C>>>>;

/** Reasons that concern a whole node, explained in the same way by every unit: containers.test.ts. */
export type NodeWide = 'NoPolicy' | 'InvalidPolicy' | 'NodeUnknown';

interface Case {
  readonly reason: Reason;
  readonly name: string;
  readonly answer: () => ExplanationDocument;
}

/**
 * Tests that each of the reasons has a case, that each case has its reason, and that `why` prints about the cases what
 * `__snapshots__/FILE.txt` has. This is the only test of the sentences; `vitest -u` writes the file again.
 */
export function testReasons(file: string, reasons: readonly Reason[], cases: readonly Case[]): void {
  test('every reason has a case, and the sentences are those of the file', async () => {
    const texts = [...new Set(reasons)].flatMap((reason) => {
      const own = cases.filter((one) => one.reason === reason);
      const answers = own.map(({ answer }) => answer());
      expect(answers.map(({ explanations }) => explanations[0]?.reason)).toEqual(own.map(() => reason));
      expect(own, reason).not.toEqual([]);
      return answers.map((answer, i) => `# ${reason}: ${own[i]?.name ?? ''}\n\n${whyTable(answer)}`);
    });
    expect(texts).toHaveLength(cases.length);
    expect(texts.join('\n')).not.toMatch(/undefined|NaN|Infinity|\(\)|\[object| {2},|^(?!#).{81}/m);
    await expect(texts.join('\n')).toMatchFileSnapshot(`./__snapshots__/${file}.txt`);
  });
}

/** Cases that `explained` answers. */
export const casesOf = <R extends Reason, C>(
  cases: Cases<R, C>,
  explained: (given: C) => ExplanationDocument,
): readonly Case[] =>
  Object.entries<Readonly<Record<string, C>>>(cases).flatMap(([reason, named]) =>
    Object.entries(named).map(([name, given]) => ({
      reason: reason as R,
      name,
      answer: () => explained(given),
    })),
  );

/** Cases of decisions that no plan from outside gives, only the controller or an agent while it acts. */
export const actedCases = (decisions: readonly (readonly [Planned, Why])[]): readonly Case[] =>
  decisions.map(([decision, why]) => ({
    reason: decision.reason,
    name: 'only while it acts',
    answer: () =>
      explainedDecisions(
        unitPlan({ unit: decision.unit, node: 'node-1' }, [[decision, () => why]], options).decisions,
      ),
  }));

/** The node has a policy without rules, and another policy has these for other nodes. */
export function ruleElsewhere(facts: Facts, rules: Partial<NodesPolicy>): Facts {
  const nodeSelector = { ...everything, matchLabels: { disk: 'none' } };
  return { ...facts, policies: [...nodesBy({}).policies, nodesPolicy({ nodeSelector, ...rules })] };
}

const options = { now, kept: true, assumeElapsed: false } as const;

/** Explains the decisions of a plan that was made otherwise. */
export const explainedDecisions = (decisions: readonly Decision[]): ExplanationDocument =>
  explain(plan({ decisions }), {
    kind: 'found',
    object: { kind: 'Pod', namespace: '', name: '' },
    facts: factsOf({}),
    only: () => true,
  });

/** Explains what a unit decides about an object. */
export function explainedBy(
  unit: Unit,
  facts: Facts,
  isAsked: (object: PlanObject) => boolean,
): ExplanationDocument {
  const { assumeElapsed = false } = facts;
  const { decisions } = planUnits(factsOf(facts), { ...options, assumeElapsed, only: isAsked });
  return explainedDecisions(decisions.filter((one) => one.unit === unit));
}

/** Answers a question as the command does. */
export function explained(question: Question, facts: Facts): ExplanationDocument {
  const target = findTarget(question, factsOf(facts));
  if (target.kind !== 'found') throw new Error(target.message);
  const { assumeElapsed = false } = facts;
  return explain(planUnits(target.facts, { now, kept: false, assumeElapsed, only: target.only }), target);
}
