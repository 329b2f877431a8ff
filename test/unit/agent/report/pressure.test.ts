import { expect, test } from 'vitest';
import type { PressureInventory } from '../../../../src/api/report/node-signals.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, policy } from '../../../builders.ts';
import { keptBy } from '../builders.ts';
import { crossed, crossedOf, governedBy, pressurePolicy, reading } from '../nodepressure/builders.ts';
import { evictionRequest, expectStorable, facts } from './builders.ts';

const { uid, generation } = policy();
const governance = governedBy(pressurePolicy());
const calm: PressureInventory = {
  ...{ policy: { uid, generation }, states: [], readings: [], warnings: [], requests: [] },
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

test.each([
  {
    name: 'nothing was read',
    pressure: undefined,
    is: 'Unknown SignalsUnknown: The agent has not read the signals from the kubelet',
  },
  {
    name: 'all is well',
    pressure: calm,
    is: 'False EnoughAvailable: No threshold is crossed or will be soon',
  },
  {
    name: 'a threshold is near',
    pressure: { ...calm, states: [ahead], warnings: ['One.', 'Two.'] },
    is: 'True ThresholdAhead: One. Two.',
  },
  {
    name: 'a threshold is crossed',
    pressure: { ...calm, states: [crossed()], warnings: ['One.'] },
    is: 'True ThresholdCrossed: One.',
  },
])('the condition PressureAhead: $name', ({ pressure, is }) => {
  expect(conditionOf(pressure)).toBe(is);
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
