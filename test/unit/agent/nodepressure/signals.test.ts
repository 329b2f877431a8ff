import { describe, expect, test } from 'vitest';
import type { SignalState } from '../../../../src/api/node-pressure.ts';
import { isForeseen } from '../../../../src/agent/nodepressure/signals.ts';
import { now } from '../../../builders.ts';
import { crossed, pressurePolicy, statesAfter, steps, thresholds, type Step } from './builders.ts';

const minuteMs = 60_000;
const startMs = now.getTime();
const minimumReclaim = thresholds({ 'nodefs.available': '10%' });

describe('a threshold', () => {
  type Rule = Parameters<typeof pressurePolicy>[0];
  type Row = [name: string, text: string, expected: Partial<SignalState> | undefined, rule?: Rule];
  const calm = { crossedSinceMs: undefined, isUnderPressure: false, wanted: 0 };
  const since = (minute: number) => ({ crossedSinceMs: startMs + minute * minuteMs });
  test.each<Row>([
    ['exactly what must be available is enough', '0:150', calm],
    ['one less crosses it', '0:149', { ...since(0), isUnderPressure: true, wanted: 1 }],
    [
      'it stays crossed until the minimum reclaim is available too',
      '0:140 1:249',
      { ...since(0), wanted: 1 },
      { minimumReclaim },
    ],
    ['the minimum reclaim alone crosses nothing', '0:200', { crossedSinceMs: undefined }, { minimumReclaim }],
    ['the pressure lasts for the transition period', '0:140 4:500', { ...calm, isUnderPressure: true }],
    ['and no longer', '0:140 5:500', { isUnderPressure: false }],
    ['a second crossing counts anew', '0:140 1:500 2:140', since(2)],
    ['another capacity is another file system', '0:140 1:140/950', since(1)],
    ['a reading that is too old decides nothing', '3:100@0', undefined],
    ['a reading from the future decides nothing', '0:100@3', undefined],
    ['without a threshold there is no signal', '0:0', undefined, { thresholds: new Map() }],
  ])('%s', (_name, text, expected, rule) => {
    const [state] = statesAfter(steps(text), pressurePolicy(rule));
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

  const burst = [500, 500, 400, 400, 400].map((available, minute) => ({ minute: 3 * minute, available }));
  const onTop = steady.map((step) => (step.minute < 2 ? step : { ...step, available: step.available - 200 }));
  test.each<[name: string, steps: readonly Step[], growthPerMinute: number | undefined]>([
    ['one burst is no growth', burst, undefined],
    ['a burst on top of growth does not change it', onTop, 10],
  ])('%s', (_, given, growthPerMinute) => {
    expect(statesAfter(given)[0]).toMatchObject({ growthPerMinute });
  });

  test.each<readonly [string, Partial<SignalState>, number | undefined, boolean]>([
    ['nothing is crossed, no forecast', notYet(10), undefined, false],
    ['within the forecast', notYet(3600), 3600_000, true],
    ['beyond the forecast', notYet(3601), 3600_000, false],
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
