import { describe, expect, test } from 'vitest';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, nameOf, told, usedMinutesAgo } from './builders.ts';

const plan = (given: ImageGcFacts, policy: Partial<ImageGcPolicy> = {}): ImageGcPlan =>
  planImageGc(given, { governance: governedBy(imageRule(policy)), now });

const minute = 60_000;

describe('the space step', () => {
  test.each([
    // capacity, available, high, low → used, wanted: pkg/kubelet/images/image_gc_manager.go
    [1000, 50, 90, 80, 95, 150],
    [1000, 159, 85, 80, 85, 41],
    [1000, 160, 85, 80, 84, 0],
    [1000, 150, 85, 84, 85, 10],
    [1000, 0, 85, 80, 100, 200],
    [1000, 1001, 85, 80, 0, 0],
    [1000, 999, 1, 0, 1, 1],
    [10, 1, 85, 84, 90, 0],
    [9_007_199_254_740_991, 1, 85, 80, 100, 1_801_439_850_948_197],
    [107_374_182_400, 10_737_418_240, 85, 80, 90, 10_737_418_240],
  ])(
    '%d bytes, %d free, thresholds %d and %d: %d percent used, %d wanted',
    (...[capacityBytes, availableBytes, high, low, usedPercent, wantedBytes]) => {
      const made = plan(facts([], { disk: { capacityBytes, availableBytes } }), {
        highThresholdPercent: high,
        lowThresholdPercent: low,
      });
      expect(made).toMatchObject({ usedPercent, wantedBytes, state: usedPercent >= high ? 'Short' : 'Idle' });
    },
  );

  test('the order: never used, then last used, then first detected, then id', () => {
    const records = {
      e: usedMinutesAgo(10),
      d: usedMinutesAgo(20),
      c: { firstDetectedMs: minutesAgo(100), lastUsedMs: minutesAgo(20) },
      b: usedMinutesAgo(undefined),
      a: usedMinutesAgo(undefined),
    };
    const listed = ['e', 'd', 'c', 'b', 'a'].map((name) => image(name, { sizeBytes: 200 }));
    const made = plan(facts(listed, { records }));
    expect(made.candidates.map(({ target: { id } }) => id.slice(7))).toEqual(['a', 'b', 'd', 'c', 'e']);
    expect(made.state).toBe('Free');
  });

  test('it stops when enough is planned; the next ones stand by', () => {
    const made = plan(facts([image('a', { sizeBytes: 600 }), image('b', { sizeBytes: 400 }), image('c')]));
    expect(told(made)).toEqual({ goes: ['a Space', 'b Space'], stays: { c: 'TargetMet' } });
    expect(made.candidates.map(({ target }) => nameOf(target))).toEqual(['a', 'b', 'c']);
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 1000, plannedBytes: 1000 });
  });

  test('a byte less is not enough', () => {
    const made = plan(facts([image('a', { sizeBytes: 999 }), image('b')]));
    expect(made).toMatchObject({ state: 'Free', plannedBytes: 1999 });
  });

  test('all that may go is not enough', () => {
    const made = plan(facts([image('a', { sizeBytes: 999 })]));
    expect(made).toMatchObject({ state: 'Short', wantedBytes: 1000, plannedBytes: 999 });
  });

  test('one goes even if rounding says that nothing is wanted', () => {
    const made = plan(facts([image('a'), image('b')], { disk: { capacityBytes: 10, availableBytes: 1 } }), {
      lowThresholdPercent: 84,
    });
    expect(told(made)).toEqual({ goes: ['a Space'], stays: { b: 'TargetMet' } });
  });

  test('no more than maxImagesPerPass', () => {
    const listed = ['a', 'b', 'c', 'd'].map((name) => image(name, { sizeBytes: 400 }));
    const made = plan(facts(listed), { maxImagesPerPass: 2 });
    expect(told(made)).toEqual({ goes: ['a Space', 'b Space'], stays: { c: 'PacingLimit', d: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Short', wantedBytes: 1000, plannedBytes: 800, maxImages: 2 });
  });
});

describe('the age step', () => {
  const hour = { maximumAgeMs: 60 * minute };
  const idle = { disk: { capacityBytes: 10_000, availableBytes: 9000 } };

  test.each([
    ['used exactly so long ago', usedMinutesAgo(60), 'BelowThreshold'],
    ['used a millisecond longer ago', { ...usedMinutesAgo(60), lastUsedMs: minutesAgo(60) - 1 }, 'Age'],
    ['never used and here for longer', usedMinutesAgo(undefined), 'Age'],
    [
      'never used and not here so long',
      { firstDetectedMs: minutesAgo(60), lastUsedMs: undefined },
      'BelowThreshold',
    ],
    ['here for long, used lately', usedMinutesAgo(5), 'BelowThreshold'],
  ])('%s: %s', (_name, record, expected) => {
    const made = plan(facts([image('a')], { ...idle, records: { a: record } }), hour);
    expect([...made.removals, ...made.kept].map(({ reason }) => reason)).toEqual([expected]);
    expect(made).toMatchObject({ state: 'Idle', wantedBytes: 0, plannedBytes: 0 });
  });

  test('what waits for its age says until when', () => {
    const made = plan(facts([image('a')], { ...idle, records: { a: usedMinutesAgo(5) } }), hour);
    expect(made.kept[0]?.eligibleAt).toEqual(new Date(minutesAgo(-55)));
    expect(plan(facts([image('a')], idle)).kept[0]?.eligibleAt).toBeUndefined();
  });

  test('needs no disk', () => {
    const records = { b: usedMinutesAgo(5) };
    const made = plan(facts([image('a'), image('b')], { records, disk: undefined }), hour);
    expect(told(made)).toEqual({ goes: ['a Age'], stays: { b: 'DiskUnknown' } });
    expect(made.state).toBe('Unknown');
  });

  test('comes first, and what it frees is not wanted any more', () => {
    const records = { b: usedMinutesAgo(30), c: usedMinutesAgo(20) };
    const listed = [image('a', { sizeBytes: 300 }), image('b', { sizeBytes: 700 }), image('c')];
    const made = plan(facts(listed, { records }), hour);
    expect(told(made)).toEqual({ goes: ['a Age', 'b Space'], stays: { c: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 700, plannedBytes: 700 });
  });

  test('may free all that is wanted', () => {
    const made = plan(facts([image('a'), image('b')], { records: { b: usedMinutesAgo(30) } }), hour);
    expect(told(made)).toEqual({ goes: ['a Age'], stays: { b: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 0, plannedBytes: 0, usedPercent: 90 });
  });

  test('shares maxImagesPerPass with the space step', () => {
    const records = { c: usedMinutesAgo(30) };
    const given = facts(
      ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 10 })),
      { records },
    );
    expect(told(plan(given, { ...hour, maxImagesPerPass: 1 }))).toEqual({
      goes: ['a Age'],
      stays: { b: 'PacingLimit', c: 'PacingLimit' },
    });
    expect(told(plan(given, { ...hour, maxImagesPerPass: 2 })).goes).toEqual(['a Age', 'b Age']);
  });

  test('nothing goes by age while pods are unknown', () => {
    expect(plan(facts([image('a')], { pods: undefined }), hour).candidates).toEqual([]);
  });
});

describe('an image that came back after its removal', () => {
  const given = (ageMinutes: number): ImageGcFacts =>
    facts([image('a')], {
      records: { a: { firstDetectedMs: minutesAgo(ageMinutes), lastUsedMs: undefined } },
      removed: [{ digest: 'sha256:a', atMs: minutesAgo(30) }],
    });

  test('has twice the minimum age', () => {
    expect(plan(given(3)).kept).toMatchObject([
      { reason: 'TooYoung', eligibleAt: new Date(minutesAgo(-1)), target: { minimumAgeMs: 240_000 } },
    ]);
    expect(told(plan(given(4))).goes).toEqual(['a Space']);
  });

  test('has not, if the policy does not want it', () => {
    expect(told(plan(given(3), { repullBackoff: false })).goes).toEqual(['a Space']);
  });
});
