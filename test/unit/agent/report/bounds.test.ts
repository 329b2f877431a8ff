import { expect, test } from 'vitest';
import { planReport } from '../../../../src/agent/report/plan.ts';
import type { RemovedKind } from '../../../../src/api/report/node-pass.ts';
import { now, policy } from '../../../builders.ts';
import { hostile } from '../../../hostile.ts';
import {
  containers,
  disk,
  evictionRequest,
  expectStorable,
  facts,
  governed,
  images,
  offender,
  pass,
  passes,
  storageWarning,
} from './builders.ts';

test('control characters are escaped', () => {
  const failed = pass('imagegc', { result: 'Failed', errors: 1, message: hostile });
  const offenders = [offender({ id: hostile, name: hostile })];
  const runtime = { name: hostile, version: hostile, apiVersion: 'v1' };
  const report = planReport(
    facts({ runtime, passes: passes(failed), images: images({ offenders }) }),
    undefined,
    now,
  );
  const shown = String.raw`a\u001b[2Jb ERROR forged\u009b2Jc\u202egpj.exe d\u007f`;
  expect(report.runtime).toEqual({ name: shown, version: shown, apiVersion: 'v1' });
  expect(report.units?.[0]?.message).toBe(shown);
  expect(report.conditions?.find(({ type }) => type === 'Degraded')?.message).toBe(
    `imagegc failed (1 removals failed): ${shown}`,
  );
  expect(report.largestOffenders?.[0]).toMatchObject({ id: shown, name: shown });
});

test('the report is within the bounds of the schema, whatever is on the node', () => {
  const long = '😀\n'.repeat(40_000);
  const huge = { count: 1e12, bytes: 1e300 };
  const large = offender({ id: long, name: long, namespace: long, bytes: 1e300, reason: long });
  const offenders = Array.from({ length: 50 }, () => large);
  const orphan = { path: long, podUid: long, sinceMs: 0, bytes: 1e300, reason: long };
  const hugeOrphans = { ...huge, largest: Array.from({ length: 50 }, () => orphan), isReadOnly: true };
  const pod = { uid: long, namespace: long, name: long };
  const removed = { id: long, name: long, pod, reason: long, policy: long, bytes: 1e300, atMs: 0 };
  const lastRemoved = <K extends RemovedKind | 'Image'>(kind: K) =>
    Array.from({ length: 50 }, () => ({ ...removed, kind }));
  const storage = {
    ...{ policy: { uid: 'uid-default', generation: 7 }, offenders: [] },
    warnings: [{ ...storageWarning('a', { percent: 400, usedBytes: -1 }), pod, sinceMs: Number.NaN }],
    evictionRequests: [
      evictionRequest('b', { pod, subject: long, observedBytes: 1e300, observedAtMs: 1e300 }),
    ],
  };
  const wrong = { removed: 1e12, freedBytes: -5, errors: Number.NaN };
  const status = planReport(
    facts({
      agentVersion: long,
      runtime: { name: long, version: long, apiVersion: long },
      governance: { ...governed(), policy: policy({ generation: 7 }) },
      passes: passes(pass('imagegc', { result: 'Failed', message: long, ...wrong })),
      images: images({ total: huge, removable: huge, offenders }),
      containers,
      storage,
      lastRemoved: { images: lastRemoved('Image'), others: lastRemoved('LogFile') },
      orphans: { podDirectories: hugeOrphans, logDirectories: hugeOrphans, podCgroups: hugeOrphans },
      snapshots: huge,
      imageDisk: disk(50, { mountpoint: long, usedPercent: 400, inodes: 1e300 }),
      troubles: [{ reason: 'RuntimeUnavailable', message: long }],
    }),
    undefined,
    now,
  );
  expectStorable(status);
  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(200_000);
  expect(status.units?.[0]?.message).toMatch(/^😀 😀.*…$/u);
  expect(status.units?.[0]).toMatchObject({ freedBytes: 0, errors: 0 });
  expect(status.storageWarnings?.[0]).toMatchObject({ percent: 100, observedBytes: 0 });
});
