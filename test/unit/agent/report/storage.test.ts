import { describe, expect, test } from 'vitest';
import type { StorageInventory } from '../../../../src/api/local-storage.ts';
import type { NodePassReport } from '../../../../src/api/report/node-pass.ts';
import { schemaChecker } from '../../../sandbox/schema.ts';
import { isWorthWriting } from '../../../../src/agent/report/change.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, policy } from '../../../builders.ts';
import { nodeGcReportCrd } from '../../api/crd.ts';
import { governedBy, storagePolicy } from '../localstorage/builders.ts';
import { evictionRequest, facts, pass, passes, storageWarning } from './builders.ts';

const { uid, generation } = policy();
const nothing: StorageInventory = {
  ...{ policy: { uid, generation }, warnings: [], evictionRequests: [], offenders: [] },
};
const planned = (storage: StorageInventory | undefined) => planReport(facts({ storage }), undefined, now);

const checkCrd = schemaChecker(nodeGcReportCrd);
const expectStorable = (status: object): void => {
  const report = {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'n' } },
    status,
  };
  expect(checkCrd(report)).toEqual({ object: report, problems: [] });
};

describe('where a policy asks for localstorage', () => {
  const governance = governedBy(storagePolicy());

  test('its first pass is waited for', () => {
    const { conditions } = planReport(facts({ governance, passes: [] }), undefined, now);
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'Unknown', message: 'No pass yet: localstorage' }),
    );
  });

  test('what it could not read degrades the node', () => {
    const failed = pass('localstorage', {
      result: 'Failed',
      message: 'reading the usage of the pods: refused',
    });
    const { conditions } = planReport(facts({ governance, passes: passes(failed) }), undefined, now);
    expect(conditions).toContainEqual(
      expect.objectContaining({
        ...{ type: 'Degraded', status: 'True', reason: 'PassFailed' },
        message: 'localstorage failed: reading the usage of the pods: refused',
      }),
    );
  });
});

test('tells of warnings and requests all that is known', () => {
  const status = planned({
    ...nothing,
    warnings: [storageWarning('a')],
    evictionRequests: [
      evictionRequest('b', { gracePeriodSeconds: 7, subject: 'main' }),
      evictionRequest('c'),
    ],
  });
  expectStorable(status);
  expect(status.storageWarnings).toEqual([
    {
      pod: { namespace: 'web', name: 'a', uid: 'uid-a' },
      ...{ signal: 'emptydirfs.limit', subject: 'tmp', observedBytes: 81, limitBytes: 100 },
      ...{ percent: 80, since: '2026-01-15T11:57:00Z' },
    },
  ]);
  const asked = {
    ...{ signal: 'ephemeralpodfs.limit', observedBytes: 150, limitBytes: 100 },
    observedTime: '2026-01-15T12:00:00Z',
  };
  expect(status.evictionRequests).toEqual([
    { pod: { namespace: 'web', name: 'b', uid: 'uid-b' }, ...asked, subject: 'main', gracePeriodSeconds: 7 },
    { pod: { namespace: 'web', name: 'c', uid: 'uid-c' }, ...asked },
  ]);
});

test.each([
  { name: 'an older policy', policy: { uid, generation: generation - 1 } },
  { name: 'another policy', policy: { uid: 'other', generation } },
])('does not ask for what was decided by $name than the one it names', ({ policy: followed }) => {
  const storage = { ...nothing, policy: followed, warnings: [storageWarning('a')] };
  const status = planned({ ...storage, evictionRequests: [evictionRequest('b')] });
  expect([status.evictionRequestCount, status.evictionRequests]).toEqual([0, []]);
  expect(status.storageWarningCount).toBe(1);
});

test('of many requests each is listed in its turn, and soon told', () => {
  const names = Array.from({ length: 70 }, (_, i) => `p${i}`);
  const storage = { ...nothing, evictionRequests: names.map((name) => evictionRequest(name)) };
  const at = (minutes: number) => {
    const later = new Date(now.getTime() + minutes * 60_000);
    return { later, status: planReport(facts({ storage }), undefined, later) };
  };
  const listed = [0, 5, 10].map((minutes) => at(minutes).status.evictionRequests?.map(({ pod }) => pod.name));
  expect(listed.flat().sort()).toEqual(names.toSorted());
  expect(listed[0]).toEqual(at(15).status.evictionRequests?.map(({ pod }) => pod.name));
  expect(isWorthWriting(at(4).status, at(5).status, { now: at(5).later, jitter: 0 })).toBe(true);
});

test('of many it lists the first 32, and counts all', () => {
  const names = Array.from({ length: 40 }, (_, i) => `p${i}`);
  const status = planned({
    ...nothing,
    warnings: names.map((name) => storageWarning(name)),
    evictionRequests: names.map((name) => evictionRequest(name)),
  });
  expectStorable(status);
  expect(status.evictionRequests).toHaveLength(32);
  expect([status.storageWarningCount, status.evictionRequestCount]).toEqual([40, 40]);
  expect(status.storageWarnings?.map(({ pod }) => pod.name)).toEqual(names.slice(0, 32));
  expect(status.evictionRequests?.map(({ pod }) => pod.name)).toEqual(names.slice(0, 32));
});

test('nothing is 0; what is not known is absent', () => {
  expect(planned(nothing)).toMatchObject({
    storageWarningCount: 0,
    storageWarnings: [],
    evictionRequestCount: 0,
  });
  expect(planned(undefined)).not.toHaveProperty('storageWarningCount');
  expect(planned(undefined)).not.toHaveProperty('evictionRequests');
});

test('stays within the bounds of the schema', () => {
  const long = 'x'.repeat(5_000);
  const pod = { namespace: long, name: long, uid: long };
  const status = planned({
    ...nothing,
    warnings: [{ ...storageWarning('a', { percent: 400, usedBytes: -1 }), pod, sinceMs: Number.NaN }],
    evictionRequests: [
      evictionRequest('b', {
        pod,
        subject: long,
        observedBytes: 1e300,
        observedAtMs: 1e300,
        gracePeriodSeconds: 1e9,
      }),
    ],
  });
  expectStorable(status);
  expect(status.storageWarnings?.[0]).toMatchObject({ percent: 100, observedBytes: 0 });
});

test('its pods and volumes are among the ten largest', () => {
  const offender = {
    kind: 'Volume',
    id: 'u',
    name: 'a/tmp',
    namespace: 'web',
    bytes: 9,
    reason: 'NoLimit',
  } as const;
  const status = planned({ ...nothing, offenders: [offender] });
  expectStorable(status);
  expect(status.largestOffenders).toEqual([offender]);
});

describe('a policy that asks for it does not wait for passes that are not made yet', () => {
  const claim = (...made: readonly NodePassReport[]): string | undefined => {
    const status = planReport(
      facts({ governance: governedBy(storagePolicy()), passes: passes(...made) }),
      undefined,
      now,
    );
    expectStorable(status);
    return status.conditions?.find(({ type }) => type === 'Degraded')?.message;
  };

  test.each([{ made: [pass('localstorage')], message: 'The last passes did what they planned' }])(
    '$message',
    ({ made, message }) => {
      expect(claim(...made)).toBe(message);
    },
  );
});
