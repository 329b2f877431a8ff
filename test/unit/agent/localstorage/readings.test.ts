import { expect, test } from 'vitest';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { minutesAgo, now } from '../../../builders.ts';
import {
  governedBy,
  limited,
  mib,
  overVolume,
  scratch,
  storagePod,
  storagePolicy,
  usage,
  verdicts,
} from './builders.ts';

test('a figure without a time is as old as the look', () => {
  const measured = usage({ p: overVolume }, { atMs: minutesAgo(3) });
  const undated = { bytes: 130 * mib, atMs: undefined };
  const pods = new Map([
    [
      'uid-p',
      {
        total: undated,
        volumes: new Map([['tmp', undated]]),
        containers: [
          { name: 'main', layer: undated, logs: undated },
          { name: 'idle', layer: undefined, logs: undefined },
        ],
      },
    ],
  ]);
  const plan = planLocalStorage(
    { pods: [storagePod('p', { ...limited, emptyDirs: scratch.emptyDirs })], usage: { ...measured, pods } },
    { governance: governedBy(storagePolicy()), now },
  );
  expect(plan.readings.map(({ reading: { subject, measuredAtMs } }) => [subject, measuredAtMs])).toEqual([
    ['tmp', minutesAgo(3)],
    [undefined, minutesAgo(3)],
    ['main', minutesAgo(3)],
  ]);
});

test('while some figures are too old, what is under its limit is not known to be', () => {
  const { pods } = usage({ p: { volumes: { tmp: 10 } } });
  const old = { bytes: 200 * mib, atMs: minutesAgo(9) };
  const mixed = new Map([...pods].map(([uid, used]) => [uid, { ...used, total: old }]));
  const plan = planLocalStorage(
    { pods: [storagePod('p', { ...limited, ...scratch })], usage: { ...usage({}), pods: mixed } },
    { governance: governedBy(storagePolicy()), now, staleAfterMs: 300_000 },
  );
  expect(verdicts(plan)).toEqual(['Keep p UsageUnknown']);
});
