import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from '../../bench/controller-runtime.ts';
import { curveSection, type CurvePoint, type CurveResult } from '../../bench/curve-report.ts';
import { isHeapDeath } from '../../bench/curve-run.ts';
import type { AtRest } from '../../bench/run-dustpan.ts';

const rest: AtRest = {
  ...{ secondsToFirstPass: 2.51, cpuSecondsToFirstPass: 1.24, cpuSecondsPerMinute: 0.345 },
  ...{ peakMb: 80.4, steadyMb: 70.6, heapMb: 20, requestsPerMinute: 0 },
  ...{ planMs: [30, 10, 20], startLagMs: 12.34, restLagMs: 3 },
};
const upstream = { peakMb: 300, secondsToFirstPass: 2, cpuSecondsToFirstPass: 1.5 };
const resultOf = (...points: CurvePoint[]): CurveResult => ({
  ...{ command: 'npm run bench:curve', loadBefore: 0.5, env: 'A=1', podBytes: 5_400, apiServer: 'v1' },
  points,
});
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
/** The rows of each table, two of them its header. */
const tablesOf = (result: CurveResult): string[][][] =>
  curveSection(result)
    .split('\n\n')
    .filter((part) => part.startsWith('| '))
    .map((part) => part.split('\n').map(cellsOf));

describe('the section of the curve', () => {
  test('has the peer beside each size', () => {
    const [, , row] =
      tablesOf(resultOf({ pods: 10_000, runs: [{ oldSpaceMb: 96, rest }], upstream }))[0] ?? [];
    expect(row).toEqual(['10 000', '96', '80 MB', '300 MB', '1.2 s', '1.5 s', '2.5 s', '2.0 s']);
  });

  test('has what dustpan takes at rest', () => {
    const [, , row] =
      tablesOf(resultOf({ pods: 10_000, runs: [{ oldSpaceMb: 96, rest }], upstream }))[1] ?? [];
    expect(row).toEqual([
      '10 000',
      '96',
      '71 MB',
      '20 MB',
      '20.0 ms',
      '30.0 ms',
      '12.3 ms',
      '3.0 ms',
      '0.34 s',
    ]);
  });

  test('says where the heap was too small, and tells the peer once', () => {
    const runs = [{ oldSpaceMb: 96 }, { oldSpaceMb: 160, rest }];
    const [besidePeer, alone] = tablesOf(resultOf({ pods: 200_000, runs, upstream }));
    expect(besidePeer?.slice(2)).toEqual([
      ['200 000', '96', '**out of heap**', '300 MB', '', '1.5 s', '', '2.0 s'],
      ['', '160', '80 MB', '', '1.2 s', '', '2.5 s', ''],
    ]);
    expect(alone?.[2]).toEqual(['200 000', '96', '', '', '', '', '', '', '']);
  });

  test('every row has as many cells as its header', () => {
    const runs = [{ oldSpaceMb: 96 }, { oldSpaceMb: 160, rest }];
    for (const rows of tablesOf(resultOf({ pods: 1_000, runs })))
      expect(new Set(rows.map((cells) => cells.length)).size).toBe(1);
  });

  test('computes what a pod costs from all sizes, without those that died', () => {
    const point = (pods: number, mb: number): CurvePoint => ({
      pods,
      runs: [{ oldSpaceMb: 96, rest: { ...rest, peakMb: mb + 5, steadyMb: mb, heapMb: mb / 2 } }],
      upstream: { ...upstream, peakMb: mb * 10 },
    });
    const died: CurvePoint = { pods: 300_000, runs: [{ oldSpaceMb: 96 }] };
    const text = curveSection(resultOf(point(1_000, 50), point(101_000, 110), died));
    expect(text).toContain(
      'dustpan 600 bytes at the peak, 600 bytes steady, 300 bytes of heap; kube-controller-manager 6 000 bytes at the peak',
    );
  });

  test('says nothing of one size', () => {
    expect(curveSection(resultOf({ pods: 1, runs: [{ oldSpaceMb: 96, rest }] }))).toContain(
      'dustpan – at the peak',
    );
  });
});

describe('what the controller runs with', () => {
  const values = readFileSync(new URL('../../../helm/dustpan/values.yaml', import.meta.url), 'utf8');
  const template = readFileSync(
    new URL('../../../helm/dustpan/templates/controller/deployment.yaml', import.meta.url),
    'utf8',
  );

  test('is what the chart sets by default', () => {
    expect(values).toContain(`nodeOptions: ${nodeArgs(oldSpaceMbFor(100_000))}\n`);
    for (const variable of controllerEnv.split(' '))
      expect(template).toMatch(new RegExp(variable.replace('=', '[^\\n]*value: "?')));
  });

  test.each([
    [1, 96],
    [150_000, 96],
    [150_001, 128],
    [250_000, 128],
    [350_000, 160],
  ])('for %d pods is %d MiB of old space', (pods, expected) => {
    expect(oldSpaceMbFor(pods)).toBe(expected);
  });

  test('is told with the values', () => {
    expect(values).toContain('32 more for each further 100 000');
  });
});

test('a death of the heap is told from any other', () => {
  const words =
    'FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory';
  expect(isHeapDeath(`<--- Last few GCs --->\n${words}\n----- Native stack trace -----`)).toBe(true);
  expect(isHeapDeath('Error: connect ECONNREFUSED')).toBe(false);
});
