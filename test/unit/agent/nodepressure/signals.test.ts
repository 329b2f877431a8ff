import { describe, expect, test } from 'vitest';
import type { SignalState } from '../../../../src/api/node-pressure.ts';
import { isForeseen } from '../../../../src/agent/nodepressure/signals.ts';
import { now } from '../../../builders.ts';
import { crossed, pressurePolicy, statesAfter, thresholds, type Step } from './builders.ts';

const minuteMs = 60_000;
const startMs = now.getTime();
const minimumReclaim = thresholds({ 'nodefs.available': '10%' });

describe('a threshold', () => {
  test.each<{
    readonly name: string;
    readonly steps: readonly Step[];
    readonly rule?: Parameters<typeof pressurePolicy>[0];
    readonly expected: Partial<SignalState> | undefined;
  }>([
    {
      name: 'exactly what must be available is enough',
      steps: [{ minute: 0, available: 150 }],
      expected: { crossedSinceMs: undefined, isUnderPressure: false, wanted: 0 },
    },
    {
      name: 'one less crosses it',
      steps: [{ minute: 0, available: 149 }],
      expected: { crossedSinceMs: startMs, isUnderPressure: true, wanted: 1 },
    },
    {
      name: 'a quantity',
      steps: [{ minute: 0, available: 149 }],
      rule: { thresholds: thresholds({ 'nodefs.available': '150' }) },
      expected: { crossedSinceMs: startMs, wanted: 1 },
    },
    {
      name: 'the time counts from the first reading below it',
      steps: [
        { minute: 0, available: 140 },
        { minute: 1, available: 100 },
      ],
      expected: { crossedSinceMs: startMs, wanted: 50 },
    },
    {
      name: 'it stays crossed until the minimum reclaim is available too',
      steps: [
        { minute: 0, available: 140 },
        { minute: 1, available: 249 },
      ],
      rule: { minimumReclaim },
      expected: { crossedSinceMs: startMs, wanted: 1 },
    },
    {
      name: 'the minimum reclaim alone crosses nothing',
      steps: [{ minute: 0, available: 200 }],
      rule: { minimumReclaim },
      expected: { crossedSinceMs: undefined, wanted: 0 },
    },
    {
      name: 'the pressure lasts for the transition period',
      steps: [
        { minute: 0, available: 140 },
        { minute: 4, available: 500 },
      ],
      expected: { crossedSinceMs: undefined, isUnderPressure: true, wanted: 0 },
    },
    {
      name: 'and no longer',
      steps: [
        { minute: 0, available: 140 },
        { minute: 5, available: 500 },
      ],
      expected: { isUnderPressure: false },
    },
    {
      name: 'a second crossing counts anew',
      steps: [
        { minute: 0, available: 140 },
        { minute: 1, available: 500 },
        { minute: 2, available: 140 },
      ],
      expected: { crossedSinceMs: startMs + 2 * minuteMs },
    },
    {
      name: 'another capacity is another file system',
      steps: [
        { minute: 0, available: 140 },
        { minute: 1, available: 140, capacity: 950 },
      ],
      expected: { crossedSinceMs: startMs + minuteMs },
    },
    {
      name: 'a reading that is too old decides nothing',
      steps: [{ minute: 3, available: 100, measured: 0 }],
      expected: undefined,
    },
    {
      name: 'a reading from the future decides nothing',
      steps: [{ minute: 0, available: 100, measured: 3 }],
      expected: undefined,
    },
    {
      name: 'without a threshold there is no signal',
      steps: [{ minute: 0, available: 0 }],
      rule: { thresholds: new Map() },
      expected: undefined,
    },
  ])('$name', ({ steps, rule, expected }) => {
    const [state] = statesAfter(steps, pressurePolicy(rule));
    if (expected === undefined) expect(state).toBeUndefined();
    else expect(state).toMatchObject(expected);
  });

  test('of the kubelet alone is observed too', () => {
    const kubelet = thresholds({ 'nodefs.available': '10%' });
    const [state] = statesAfter(
      [{ minute: 0, available: 99 }],
      pressurePolicy({ thresholds: new Map() }),
      kubelet,
    );
    expect(state).toMatchObject({
      ours: undefined,
      kubelets: { value: 100, text: '10%', secondsLeft: 0 },
      crossedSinceMs: undefined,
    });
  });
});

describe('the forecast', () => {
  /** 10 less each minute. */
  const steady: readonly Step[] = [0, 1, 2, 3, 4].map((minute) => ({ minute, available: 500 - 10 * minute }));
  const kubelet = thresholds({ 'nodefs.available': '10%' });

  test('computes when both thresholds are crossed', () => {
    const [state] = statesAfter(steady, pressurePolicy(), kubelet);
    expect(state?.growthPerMinute).toBe(10);
    expect(state?.ours?.secondsLeft).toBe(((460 - 150) / 10) * 60);
    expect(state?.kubelets?.secondsLeft).toBe(((460 - 100) / 10) * 60);
  });

  test('one burst is no growth', () => {
    const burst = [500, 500, 400, 400, 400].map((available, minute) => ({ minute: 3 * minute, available }));
    expect(statesAfter(burst)[0]).toMatchObject({ growthPerMinute: undefined });
  });

  test('a burst on top of growth does not change it', () => {
    const burst = steady.map((step) =>
      step.minute < 2 ? step : { ...step, available: step.available - 200 },
    );
    expect(statesAfter(burst)[0]).toMatchObject({ growthPerMinute: 10 });
  });

  test('another capacity begins anew', () => {
    const grown = [...steady, { minute: 5, available: 900, capacity: 2000 }];
    expect(statesAfter(grown)[0]).toMatchObject({ growthPerMinute: undefined });
  });

  test('nothing is approached when usage falls', () => {
    const falling = steady.map((step) => ({ ...step, available: 1000 - step.available }));
    expect(statesAfter(falling)[0]?.ours).toEqual({ value: 150, text: '15%', secondsLeft: undefined });
  });

  test.each<readonly [string, Partial<SignalState>, number | undefined, boolean]>([
    ['our threshold is crossed', {}, undefined, true],
    ['nothing is crossed, no forecast', notYet(10), undefined, false],
    ['within the forecast', notYet(3600), 3600_000, true],
    ['beyond the forecast', notYet(3601), 3600_000, false],
    ['not approached', notYet(undefined), 3600_000, false],
    [
      "the kubelet's threshold is crossed, ours is lower",
      { ...notYet(undefined), kubelets: { value: 200, text: '20%', secondsLeft: 0 } },
      undefined,
      true,
    ],
    [
      "only the kubelet's is within the forecast",
      { ...notYet(undefined), kubelets: { value: 90, text: '9%', secondsLeft: 60 } },
      3600_000,
      true,
    ],
  ])('%s', (_, state, forecastMs, expected) => {
    expect(isForeseen(crossed(state), forecastMs)).toBe(expected);
  });
});

function notYet(secondsLeft: number | undefined): Partial<SignalState> {
  return { crossedSinceMs: undefined, ours: { value: 150, text: '15%', secondsLeft } };
}
