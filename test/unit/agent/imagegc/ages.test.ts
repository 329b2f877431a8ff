import { describe, expect, test } from 'vitest';
import type { ImageAgeRule } from '../../../../src/api/policy/policy.ts';
import type { ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { minutesAgo } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, planOf, usedMinutesAgo, verdicts } from './builders.ts';

const minute = 60_000;
const day = 24 * 60;
const idle = { capacityBytes: 10_000, availableBytes: 9000 };
const entry = (pattern: string, minutes: number | undefined): ImageAgeRule => ({
  image: pattern,
  maximumAgeMs: minutes === undefined ? undefined : minutes * minute,
});
const digest = `sha256:${'a'.repeat(64)}`;

const planned = (
  over: Partial<RuntimeImage>,
  maximumAgeByImage: readonly ImageAgeRule[],
  maximumAgeMs: number | undefined = 60 * minute,
): ImageGcPlan =>
  planOf(facts([image('x', over)], { disk: idle, records: { x: usedMinutesAgo(30) } }), {
    ...{ maximumAgeMs, maximumAgeByImage },
  });

const ci = { tags: ['registry.example.com/ci/app:1'] };

describe('an image that was used half an hour ago, with a general maximum age of an hour', () => {
  test.each<readonly [string, Partial<RuntimeImage>, readonly ImageAgeRule[], string]>([
    ['no entry', ci, [], 'BelowThreshold'],
    ['an entry with a shorter age', ci, [entry('registry.example.com/ci/*', 20)], 'Age'],
    ['an entry with exactly its age', ci, [entry('registry.example.com/ci/*', 30)], 'BelowThreshold'],
    ['an entry for other images', ci, [entry('registry.example.com/base/*', 20)], 'BelowThreshold'],
    [
      'the first of two entries wins',
      ci,
      [entry('*/ci/*', undefined), entry('registry.example.com/ci/*', 20)],
      'BelowThreshold',
    ],
    ['the second, if only it matches', ci, [entry('base', 40), entry('*/ci/app:?', 20)], 'Age'],
    ['a pattern of the short name', { tags: ['docker.io/library/nginx:1'] }, [entry('nginx:*', 20)], 'Age'],
    [
      'a pattern of a digest',
      { tags: [], digests: [`registry.example.com/ci/app@${digest}`] },
      [entry(`*@${digest}`, 20)],
      'Age',
    ],
    [
      'a pattern of one of its tags',
      { tags: ['registry.example.com/app:1', 'registry.example.com/ci/app:1'] },
      [entry('*/ci/*', 20)],
      'Age',
    ],
  ])('%s', (_name, over, entries, reason) => {
    const plan = planned(over, entries);
    expect([...plan.removals, ...plan.kept].map((one) => one.reason)).toEqual([reason]);
  });

  test('is never removed by age under an entry of 0s, and has no time at which it is due', () => {
    const plan = planned(ci, [entry('*/ci/*', undefined)], 20 * minute);
    expect(verdicts(plan)).toEqual({ removed: [], kept: { x: 'BelowThreshold' } });
    expect(plan.kept[0]?.eligibleAt).toBeUndefined();
  });

  test('is due when the age of its entry is over', () => {
    expect(planned(ci, [entry('*/ci/*', day)]).kept[0]?.eligibleAt).toEqual(new Date(minutesAgo(30 - day)));
  });

  test('needs no general maximum age', () => {
    expect(verdicts(planned(ci, [entry('*/ci/*', 20)], undefined)).removed).toEqual(['x Age']);
  });

  test('shows the entry', () => {
    expect(planned(ci, [entry('base', 40), entry('*/ci/*', 20)]).removals[0]?.target).toMatchObject({
      maximumAgeMs: 20 * minute,
      ageEntry: { index: 1, pattern: '*/ci/*', maximumAgeMs: 20 * minute },
    });
  });
});

test('an entry of 0s does not keep an image from the space step', () => {
  const given = facts([image('x', ci)], { records: { x: usedMinutesAgo(30) } });
  expect(verdicts(planOf(given, { maximumAgeByImage: [entry('*', undefined)] })).removed).toEqual([
    'x Space',
  ]);
});

describe('an image that was observed a minute ago, with a minimum age of two minutes, is due', () => {
  const young = { firstDetectedMs: minutesAgo(1), lastUsedMs: undefined };
  const full = { ...idle, availableBytes: 1000 };
  test.each([
    { name: 'after two minutes, on a full disk', disk: full, maximumAge: undefined, inMinutes: 1 },
    {
      name: 'after two minutes, on a full disk with a maximum age',
      disk: full,
      maximumAge: 60,
      inMinutes: 1,
    },
    { name: 'at the maximum age', disk: idle, maximumAge: 60, inMinutes: 59 },
    { name: 'at the maximum age, while the disk is unknown', disk: undefined, maximumAge: 60, inMinutes: 59 },
    { name: 'after two minutes, if the maximum age is shorter', disk: idle, maximumAge: 1, inMinutes: 1 },
    { name: 'never, without a maximum age', disk: idle, maximumAge: undefined, inMinutes: undefined },
  ])('$name', ({ disk, maximumAge, inMinutes }) => {
    const maximumAgeMs = maximumAge === undefined ? undefined : maximumAge * minute;
    const plan = planOf(facts([image('x')], { disk, records: { x: young } }), { maximumAgeMs });
    const eligibleAt = inMinutes === undefined ? undefined : new Date(minutesAgo(-inMinutes));
    expect(plan.kept).toMatchObject([{ reason: 'TooYoung', eligibleAt }]);
  });
});
