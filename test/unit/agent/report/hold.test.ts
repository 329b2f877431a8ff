import { expect, test } from 'vitest';
import type { HeldImages } from '../../../../src/api/report/node-pass.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { nodesRules, now, policy } from '../../../builders.ts';
import { facts, images } from './builders.ts';

const holding = (over: Partial<ReportFacts>) =>
  planReport(facts(over), undefined, now).conditions?.find(({ type }) => type === 'Holding');
const held: HeldImages = { due: 40, unused: 60, until: new Date('2026-01-15T12:05:00Z') };

test('a large removal that waits has its numbers, its end and both commands', () => {
  expect(holding({ images: { ...images(), held } })).toMatchObject({
    status: 'True',
    reason: 'Holding',
    message:
      'Generation 1 would remove 40 of 60 unused images of this node; dustpan waits until 2026-01-15T12:05:00Z. ' +
      'To go on now: kubectl annotate gcpolicy default --overwrite gc.dustpan.dev/skip-hold=1. ' +
      `To take it back: kubectl patch gcpolicy default --type=merge -p '{"spec":{"mode":"DryRun"}}'`,
  });
});

test.each([
  { name: 'nothing waits', over: { images: images() } },
  { name: 'no pass has ended', over: { images: undefined } },
])('False: $name', ({ over }) => {
  expect(holding(over)).toMatchObject({ status: 'False', reason: 'NothingHeld' });
});

const nodes = nodesRules();

test.each<{ readonly name: string; readonly governance: ReportFacts['governance'] }>([
  { name: 'no rule for images', governance: { kind: 'governed', policy: policy({ nodes }), nodes } },
  { name: 'no policy', governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined } },
])('absent: $name', ({ governance }) => {
  expect(holding({ governance })).toBeUndefined();
});
