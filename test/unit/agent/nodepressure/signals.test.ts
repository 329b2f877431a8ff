import { describe, expect, test } from 'vitest';
import {
  completed,
  isForeseen,
  observeSignals,
  unreadDisks,
  type NodeReadings,
} from '../../../../src/agent/nodepressure/signals.ts';
import { now } from '../../../builders.ts';
import { crossed, pressurePolicy, reading, statesAfter, steps, thresholds, type Step } from './builders.ts';
import { maxAges } from '../../../../src/agent/localstorage/pods.ts';
import type { SignalState } from '../../../../src/agent/nodepressure/facts.ts';

const minuteMs = 60_000;
const startMs = now.getTime();
const since = (minute: number) => ({ crossedSinceMs: startMs + minute * minuteMs });
const minimumReclaim = thresholds({ 'nodefs.available': '10%' });

describe('a threshold', () => {
  type Rule = Parameters<typeof pressurePolicy>[0];
  type Row = [name: string, text: string, expected: Partial<SignalState> | undefined, rule?: Rule];
  const calm = { crossedSinceMs: undefined, isUnderPressure: false, wanted: 0 };
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
    [
      'another capacity is the same file system, which may be as large again',
      '0:140 1:140/950',
      { ...since(0), largestCapacity: 1000 },
    ],
    ['a reading that is too old decides nothing', '3:100@0', undefined],
    ['a reading from the future decides nothing', '0:100@3', undefined],
    ['without a threshold there is no signal', '0:0', undefined, { thresholds: new Map() }],
  ])('%s', (_name, text, expected, rule) => {
    const [state] = statesAfter(steps(text), pressurePolicy(rule));
    if (expected === undefined) expect(state).toBeUndefined();
    else expect(state).toMatchObject(expected);
  });

  test.each<readonly [string, readonly (number | undefined)[], minute: number]>([
    ['another device is another file system', [1, 2], 1],
    ['a device that is unknown for a moment is the same one', [1, undefined, 1], 0],
    ['and another one after that is another one', [1, undefined, 2], 2],
  ])('%s', (_, devices, minute) => {
    const given = devices.map((device, i) => ({
      minute: i,
      available: 140,
      ...(device !== undefined && { device }),
    }));
    expect(statesAfter(given)[0]).toMatchObject(since(minute));
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

describe('a signal without a current reading', () => {
  const rule = pressurePolicy({
    thresholds: thresholds({
      'nodefs.available': '15%',
      'imagefs.available': '20%',
      'imagefs.inodesFree': '5%',
    }),
  });
  const given = { rule, kubelet: new Map(), now, maxAges };
  const nodefs = reading();
  const imagefs = reading({ signal: 'imagefs.available', measuredAtMs: startMs - 2 * minuteMs - 1 });
  const inodes = reading({ signal: 'imagefs.inodesFree' });
  const disk = { device: 7, capacityBytes: 1000, availableBytes: 10, inodes: 100, inodesFree: 3 };
  const observed = (readings: NodeReadings) => observeSignals(new Map(), readings, given);

  test.each<readonly [string, NodeReadings, unread: string, unknown: string]>([
    ['all are current', { signals: [nodefs, { ...imagefs, measuredAtMs: startMs }, inodes] }, '', ''],
    ['stale', { signals: [nodefs, imagefs, inodes] }, 'imagefs', 'imagefs.available'],
    ['missing', { signals: [imagefs, inodes] }, 'nodefs imagefs', 'nodefs.available imagefs.available'],
    ['not counted', { signals: [nodefs], uncounted: ['imagefs.inodesFree'] }, 'imagefs', 'imagefs.available'],
  ])('%s: the agent reads its disk, or it is unknown', (_, readings, unread, unknown) => {
    expect(unreadDisks(readings, given).join(' ')).toBe(unread);
    expect(observed(readings).unknown.join(' ')).toBe(unknown);
    const all = completed(
      readings,
      new Map([
        ['imagefs', disk],
        ['nodefs', disk],
      ]),
      given,
    );
    expect(observed(all).unknown).toEqual([]);
  });

  test('has the values of the disk that the agent reads, now', () => {
    const all = completed({ signals: [nodefs, imagefs] }, new Map([['imagefs', disk]]), given);
    expect(all.signals).toEqual([
      nodefs,
      { signal: 'imagefs.available', available: 10, capacity: 1000, device: 7, measuredAtMs: startMs },
      { signal: 'imagefs.inodesFree', available: 3, capacity: 100, device: 7, measuredAtMs: startMs },
    ]);
  });

  test('is not counted where the file system has no inodes', () => {
    const btrfs = { ...disk, inodes: undefined, inodesFree: undefined };
    const all = completed({ signals: [nodefs] }, new Map([['imagefs', btrfs]]), given);
    expect(all.uncounted).toEqual(['imagefs.inodesFree']);
    expect(observed(all).unknown).toEqual([]);
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

  test('is made where the total shrinks with what is available, as the inodes of XFS do', () => {
    const shrinking = steady.map((step) => ({ ...step, device: 1, capacity: 500 + step.available }));
    const [state] = statesAfter(shrinking);
    expect(state).toMatchObject({
      growthPerMinute: 10,
      ours: { value: 144, secondsLeft: ((460 - 144) / 10) * 60 },
    });
  });

  const burst = [500, 500, 400, 400, 400].map((available, minute) => ({ minute: 3 * minute, available }));
  const onTop = steady.map((step) => (step.minute < 2 ? step : { ...step, available: step.available - 200 }));
  test.each<[name: string, steps: readonly Step[], growthPerMinute: number | undefined]>([
    ['one burst is no growth', burst, undefined],
    ['a burst on top of growth does not change it', onTop, 10],
  ])('%s', (_, given, growthPerMinute) => expect(statesAfter(given)[0]).toMatchObject({ growthPerMinute }));

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
  ])('%s', (_, state, forecastMs, expected) => expect(isForeseen(crossed(state), forecastMs)).toBe(expected));
});

function notYet(secondsLeft: number | undefined): Partial<SignalState> {
  return { crossedSinceMs: undefined, ours: { value: 150, text: '15%', secondsLeft } };
}
