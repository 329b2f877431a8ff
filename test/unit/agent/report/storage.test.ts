import { expect, test } from 'vitest';
import { isWorthWriting } from '../../../../src/agent/report/change.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, policy } from '../../../builders.ts';
import { keptBy } from '../builders.ts';
import { crossed, crossedOf, governedBy, pressurePolicy, reading } from '../nodepressure/builders.ts';
import { evictionRequest, expectStorable, facts, storageWarning } from './builders.ts';
import type { PressureInventory } from '../../../../src/agent/nodepressure/facts.ts';
import type { StorageInventory } from '../../../../src/agent/localstorage/facts.ts';

const { uid, generation } = policy();
const nothing: StorageInventory = {
  policy: { uid, generation },
  warnings: [],
  evictionRequests: [],
};
const planned = (storage: StorageInventory | undefined) => {
  const status = planReport(facts({ storage }), undefined, now);
  expectStorable(status);
  return status;
};
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`);

test('warnings and requests have all known fields', () => {
  const status = planned({
    ...nothing,
    warnings: [storageWarning('a')],
    evictionRequests: [
      evictionRequest('b', { gracePeriodSeconds: 7, subject: 'main' }),
      evictionRequest('c'),
    ],
  });
  expect(status.storageWarnings).toEqual([
    {
      pod: { namespace: 'web', name: 'a', uid: 'uid-a' },
      ...{ signal: 'emptydirfs.limit', subject: 'tmp', observedBytes: 81, limitBytes: 100 },
      ...{ percent: 80, since: '2026-01-15T11:57:00Z' },
    },
  ]);
  const request = {
    ...{ signal: 'ephemeralpodfs.limit', observedBytes: 150, limitBytes: 100 },
    observedTime: '2026-01-15T12:00:00Z',
  };
  expect(status.evictionRequests).toEqual([
    {
      pod: { namespace: 'web', name: 'b', uid: 'uid-b' },
      ...request,
      subject: 'main',
      gracePeriodSeconds: 7,
    },
    { pod: { namespace: 'web', name: 'c', uid: 'uid-c' }, ...request },
  ]);
});

test.each([
  { name: 'an older generation', policy: { uid, generation: generation - 1 } },
  { name: 'another policy', policy: { uid: 'other', generation } },
])('requests that were decided by $name are left out', ({ policy: followed }) => {
  const storage = { ...nothing, policy: followed, warnings: [storageWarning('a')] };
  const status = planned({ ...storage, evictionRequests: [evictionRequest('b')] });
  expect([status.evictionRequestCount, status.evictionRequests]).toEqual([0, []]);
  expect(status.storageWarningCount).toBe(1);
});

test('more requests than can be listed are listed page by page, and each page is written', () => {
  const storage = { ...nothing, evictionRequests: names(70).map((name) => evictionRequest(name)) };
  const at = (minutes: number) => {
    const later = new Date(now.getTime() + minutes * 60_000);
    return { later, status: planReport(facts({ storage }), undefined, later) };
  };
  const listed = [0, 5, 10].map((minutes) => at(minutes).status.evictionRequests?.map(({ pod }) => pod.name));
  expect(listed.flat().sort()).toEqual(names(70).sort());
  expect(listed[0]).toEqual(at(15).status.evictionRequests?.map(({ pod }) => pod.name));
  const given = { now: at(5).later, jitter: 0, isLast: false };
  expect(isWorthWriting(at(4).status, at(5).status, given)).toBe(true);
});

const governance = governedBy(pressurePolicy());
const calm: PressureInventory = {
  ...{ policy: { uid, generation }, states: [], unknown: [], readings: [], warnings: [], requests: [] },
};

const reported = (pressure: PressureInventory | undefined) => {
  const status = planReport(facts({ governance, pressure }), undefined, now);
  expectStorable(status);
  return status;
};

const conditionOf = (pressure: PressureInventory | undefined): string | undefined => {
  const found = reported(pressure).conditions?.find(({ type }) => type === 'PressureAhead');
  return found && `${found.status} ${found.reason}: ${found.message}`;
};

const ahead = crossed({ crossedSinceMs: undefined, isUnderPressure: false, wanted: 0 });

const noValue =
  'No current value of imagefs.available: neither the kubelet nor the agent has measured it in the last two minutes';

const one = { states: [crossed()], warnings: ['One.'] };
const unknown = ['imagefs.available' as const];

test.each<[name: string, pressure: Partial<PressureInventory> | undefined, condition: string]>([
  [
    'nothing was read',
    undefined,
    'Unknown SignalsUnknown: The agent has not read the signals from the kubelet',
  ],
  ['all is well', {}, 'False EnoughAvailable: No threshold is crossed or will be soon'],
  ['a threshold is near', { states: [ahead], warnings: ['One.', 'Two.'] }, 'True ThresholdAhead: One. Two.'],
  ['a threshold is crossed', one, 'True ThresholdCrossed: One.'],
  ['a signal is unknown', { unknown }, `Unknown SignalsUnknown: ${noValue}`],
  [
    'a threshold is crossed, and another signal is unknown',
    { ...one, unknown },
    `True ThresholdCrossed: One. ${noValue}`,
  ],
  [
    'a threshold was crossed a moment ago, and another signal is unknown',
    { states: [crossed()], unknown },
    `True TransitionPeriod: Enough is available again, but for less than the transition period: nodefs.available. ${noValue}`,
  ],
])('the condition PressureAhead: %s', (_, pressure, condition) => {
  expect(conditionOf(pressure && { ...calm, ...pressure })).toBe(condition);
});

test('without a rule there is no condition', () => {
  const status = planReport(facts({ pressure: undefined }), undefined, now);
  expect(status.conditions?.map(({ type }) => type)).not.toContain('PressureAhead');
  const kept = planReport(facts({ governance: keptBy('NoPolicy') }), undefined, now);
  expect(kept.conditions?.map(({ type }) => type)).not.toContain('PressureAhead');
});

test('signals have what is available, both thresholds, the growth, and when the nearer threshold is or was crossed', () => {
  const state = crossed({
    reading: { ...crossed().reading, available: 299 },
    ours: { value: 150, text: '15%', secondsLeft: 120 },
    kubelets: { value: 100, text: '10%', secondsLeft: 300 },
    ...{ growthPerMinute: 60, crossedSinceMs: undefined },
  });
  const inodes = reading({ signal: 'containerfs.inodesFree', available: 1, capacity: 3 });
  const past = crossedOf('imagefs.available');
  const readings = [state.reading, inodes, past.reading];
  const { signals } = reported({ ...calm, states: [state, past], readings });
  const measuredTime = '2026-01-15T12:00:00Z';
  expect(signals).toEqual([
    {
      ...{ name: 'nodefs.available', available: 299, capacity: 1000, availablePercent: 29, measuredTime },
      ...{
        threshold: 150,
        kubeletThreshold: 100,
        growthPerMinute: 60,
        thresholdTime: '2026-01-15T12:02:00Z',
      },
    },
    { name: 'containerfs.inodesFree', available: 1, capacity: 3, availablePercent: 33, measuredTime },
    {
      ...{ name: 'imagefs.available', available: 100, capacity: 1000, availablePercent: 10, measuredTime },
      ...{ threshold: 150, crossedSince: '2026-01-15T11:58:00Z' },
    },
  ]);
});

test('requests for node pressure are listed with what is short', () => {
  const shown = {
    signal: 'nodefs.available',
    shortage: { available: 100, threshold: 150 },
    largest: { name: 'logs of container main', amount: 90 },
  } as const;
  const request = { ...evictionRequest('a'), ...shown, subject: undefined, gracePeriodSeconds: undefined };
  expect(reported({ ...calm, requests: [request] }).evictionRequests).toMatchObject([shown]);
});
