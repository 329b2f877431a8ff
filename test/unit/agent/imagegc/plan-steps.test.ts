import { describe, expect, test } from 'vitest';
import type { ImageGcFacts } from '../../../../src/agent/imagegc/facts.ts';
import { minutesAgo } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, nameOf, planOf, usedMinutesAgo, verdicts } from './builders.ts';

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
      const made = planOf(facts([], { disk: { capacityBytes, availableBytes } }), {
        highThresholdPercent: high,
        lowThresholdPercent: low,
      });
      expect(made).toMatchObject({ usedPercent, wantedBytes, state: usedPercent >= high ? 'Short' : 'Idle' });
    },
  );

  test('removes never used images first, then by last use, then by first detection, then by id', () => {
    const records = {
      e: usedMinutesAgo(10),
      d: usedMinutesAgo(20),
      c: { firstDetectedMs: minutesAgo(100), lastUsedMs: minutesAgo(20) },
      b: usedMinutesAgo(undefined),
      a: usedMinutesAgo(undefined),
    };
    const listed = ['e', 'd', 'c', 'b', 'a'].map((name) => image(name, { sizeBytes: 200 }));
    const made = planOf(facts(listed, { records }));
    expect(made.candidates.map(({ target: { id } }) => id.slice(7))).toEqual(['a', 'b', 'd', 'c', 'e']);
    expect(made.state).toBe('Free');
  });

  test('stops when enough is planned, and has the next ones as candidates', () => {
    const made = planOf(facts([image('a', { sizeBytes: 600 }), image('b', { sizeBytes: 400 }), image('c')]));
    expect(verdicts(made)).toEqual({ removed: ['a Space', 'b Space'], kept: { c: 'TargetMet' } });
    expect(made.candidates.map(({ target }) => nameOf(target))).toEqual(['a', 'b', 'c']);
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 1000, plannedBytes: 1000 });
  });

  test('plans one more image if a byte is missing', () => {
    const made = planOf(facts([image('a', { sizeBytes: 999 }), image('b')]));
    expect(made).toMatchObject({ state: 'Free', plannedBytes: 1999 });
  });

  test('is short if all removable images are not enough', () => {
    const made = planOf(facts([image('a', { sizeBytes: 999 })]));
    expect(made).toMatchObject({ state: 'Short', wantedBytes: 1000, plannedBytes: 999 });
  });

  test('removes one image even if rounding makes the wanted bytes 0', () => {
    const made = planOf(facts([image('a'), image('b')], { disk: { capacityBytes: 10, availableBytes: 1 } }), {
      lowThresholdPercent: 84,
    });
    expect(verdicts(made)).toEqual({ removed: ['a Space'], kept: { b: 'TargetMet' } });
  });

  test('removes at most maxImagesPerPass images', () => {
    const listed = ['a', 'b', 'c', 'd'].map((name) => image(name, { sizeBytes: 400 }));
    const made = planOf(facts(listed), { maxImagesPerPass: 2 });
    expect(verdicts(made)).toEqual({
      removed: ['a Space', 'b Space'],
      kept: { c: 'PacingLimit', d: 'TargetMet' },
    });
    expect(made).toMatchObject({ state: 'Short', wantedBytes: 1000, plannedBytes: 800, maxImages: 2 });
  });
});

describe('the age step', () => {
  const hour = { maximumAgeMs: 60 * minute };
  const idle = { disk: { capacityBytes: 10_000, availableBytes: 9000 } };

  test.each([
    ['used exactly the maximum age ago', usedMinutesAgo(60), 'BelowThreshold'],
    ['used a millisecond before that', { ...usedMinutesAgo(60), lastUsedMs: minutesAgo(60) - 1 }, 'Age'],
    ['never used and detected before that', usedMinutesAgo(undefined), 'Age'],
    [
      'never used and detected exactly the maximum age ago',
      { firstDetectedMs: minutesAgo(60), lastUsedMs: undefined },
      'BelowThreshold',
    ],
    ['detected long ago and used recently', usedMinutesAgo(5), 'BelowThreshold'],
  ])('%s: %s', (_name, record, expected) => {
    const made = planOf(facts([image('a')], { ...idle, records: { a: record } }), hour);
    expect([...made.removals, ...made.kept].map(({ reason }) => reason)).toEqual([expected]);
    expect(made).toMatchObject({ state: 'Idle', wantedBytes: 0, plannedBytes: 0 });
  });

  test('has the time at which an image becomes due', () => {
    const made = planOf(facts([image('a')], { ...idle, records: { a: usedMinutesAgo(5) } }), hour);
    expect(made.kept[0]?.eligibleAt).toEqual(new Date(minutesAgo(-55)));
    expect(planOf(facts([image('a')], idle)).kept[0]?.eligibleAt).toBeUndefined();
  });

  test('does not need the disk', () => {
    const records = { b: usedMinutesAgo(5) };
    const made = planOf(facts([image('a'), image('b')], { records, disk: undefined }), hour);
    expect(verdicts(made)).toEqual({ removed: ['a Age'], kept: { b: 'DiskUnknown' } });
    expect(made.state).toBe('Unknown');
  });

  test('runs first, and the space step needs less by the bytes that it frees', () => {
    const records = { b: usedMinutesAgo(30), c: usedMinutesAgo(20) };
    const listed = [image('a', { sizeBytes: 300 }), image('b', { sizeBytes: 700 }), image('c')];
    const made = planOf(facts(listed, { records }), hour);
    expect(verdicts(made)).toEqual({ removed: ['a Age', 'b Space'], kept: { c: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 700, plannedBytes: 700 });
  });

  test('may free all wanted bytes', () => {
    const made = planOf(facts([image('a'), image('b')], { records: { b: usedMinutesAgo(30) } }), hour);
    expect(verdicts(made)).toEqual({ removed: ['a Age'], kept: { b: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 0, plannedBytes: 0, usedPercent: 90 });
  });

  test('shares maxImagesPerPass with the space step', () => {
    const records = { c: usedMinutesAgo(30) };
    const given = facts(
      ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 10 })),
      { records },
    );
    expect(verdicts(planOf(given, { ...hour, maxImagesPerPass: 1 }))).toEqual({
      removed: ['a Age'],
      kept: { b: 'PacingLimit', c: 'PacingLimit' },
    });
    expect(verdicts(planOf(given, { ...hour, maxImagesPerPass: 2 })).removed).toEqual(['a Age', 'b Age']);
  });

  test('removes nothing while the pods are unknown', () => {
    expect(planOf(facts([image('a')], { pods: undefined }), hour).candidates).toEqual([]);
  });
});

describe('an image that was pulled again after its removal', () => {
  const given = (ageMinutes: number): ImageGcFacts =>
    facts([image('a')], {
      records: { a: { firstDetectedMs: minutesAgo(ageMinutes), lastUsedMs: undefined } },
      removed: [{ digest: 'sha256:a', atMs: minutesAgo(30) }],
    });

  test('has twice the minimum age', () => {
    expect(planOf(given(3)).kept).toMatchObject([
      { reason: 'TooYoung', eligibleAt: new Date(minutesAgo(-1)), target: { minimumAgeMs: 240_000 } },
    ]);
    expect(verdicts(planOf(given(4))).removed).toEqual(['a Space']);
  });

  test('has not without repullBackoff', () => {
    expect(verdicts(planOf(given(3), { repullBackoff: false })).removed).toEqual(['a Space']);
  });
});
