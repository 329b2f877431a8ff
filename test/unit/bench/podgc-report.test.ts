import { describe, expect, test } from 'vitest';
import { section, type BenchResult, type RawDeletes, type Round } from '../../bench/report.ts';

const cpu = { apiServer: 3, etcd: 1, bench: 0.4 };
const usage = { residentMb: 1_800, peakMb: 1_900, cpuSeconds: 20 };

interface Rates {
  readonly dustpan: number | undefined;
  readonly raw: number | undefined;
}

const cycles = (rate: number | undefined): RawDeletes['whole'] =>
  rate === undefined ? undefined : { cycles: 1, done: 10_000, seconds: 10_000 / rate };
const raw = (rate: number | undefined): RawDeletes => ({
  perSecond: 500,
  cpuSeconds: cpu,
  whole: cycles(rate),
});

function clearing(rate: number | undefined): Round['clearing'] {
  return {
    ...{
      firstDeleteSeconds: 9,
      cpuSecondsToFirstDelete: 3,
      deletesPerSecond: 400,
      deleted: 20_000,
      measured: 20_000,
    },
    ...{ cpuSecondsOfDeleting: 14, othersCpuSeconds: cpu, usage, whole: cycles(rate) },
    ...{ lagMs: 50, steadyMb: 100, peakMb: 130 },
  };
}

interface Measured {
  readonly pods?: number;
  readonly cpuSeconds?: number;
  readonly peerCpuSeconds?: number;
  readonly planMs?: readonly number[];
  readonly rates?: readonly Rates[];
}

function result(measured: Measured): BenchResult {
  const { pods = 100_000, cpuSeconds = 3, peerCpuSeconds = 16, planMs = [80] } = measured;
  const rates = measured.rates ?? [{ dustpan: 450, raw: 500 }];
  return {
    ...{
      command: 'bench',
      loadBefore: 0,
      nodeArgs: '',
      env: '',
      pods,
      due: 20_000,
      podBytes: 5_400,
      apiServer: 'v1',
    },
    rest: {
      ...{
        secondsToFirstPass: 9,
        cpuSecondsToFirstPass: cpuSeconds,
        peakMb: 110,
        steadyMb: 100,
        heapMb: 40,
        planMs,
      },
      ...{ startLagMs: 10, restLagMs: 10, requestsPerMinute: 1, cpuSecondsPerMinute: 1 },
    },
    rounds: rates.map((one) => ({ clearing: clearing(one.dustpan), raw: [raw(one.raw), raw(one.raw)] })),
    upstream: { ...clearing(undefined), deletesPerSecond: 20, cpuSecondsToFirstDelete: peerCpuSeconds },
  };
}

const rowOf = (name: string, measured: Measured): string | undefined =>
  section(result(measured))
    .split('\n')
    .find((line) => line.startsWith(`| ${name} |`));

describe('CPU to the first pass is judged by what its peer took', () => {
  const name = 'CPU to the first synced pass';
  test.each([
    { cpuSeconds: 3, peerCpuSeconds: 16, verdict: 'met' },
    { cpuSeconds: 3.1, peerCpuSeconds: 16, verdict: '**missed**' },
    { cpuSeconds: 3.7, peerCpuSeconds: 20, verdict: 'met' },
    { cpuSeconds: 2, peerCpuSeconds: 10, verdict: '**missed**' },
  ])('$cpuSeconds s of $peerCpuSeconds: $verdict', ({ verdict, ...measured }) => {
    expect(rowOf(name, measured)).toMatch(new RegExp(`\\| ${verdict.replaceAll('*', '\\*')} \\|$`));
  });
});

describe('the share of the raw rate is judged in whole cycles, all rounds together', () => {
  const name = '… in whole cycles of the server';
  test.each([
    { rates: [{ dustpan: 450, raw: 500 }], row: `| ${name} | 90.0 % |  | 90 % | met |` },
    { rates: [{ dustpan: 449, raw: 500 }], row: `| ${name} | 89.8 % |  | 90 % | **missed** |` },
    {
      rates: [
        { dustpan: 500, raw: 500 },
        { dustpan: undefined, raw: 500 },
      ],
      row: `| ${name} | 100.0 % |  | 90 % | met |`,
    },
    { rates: [{ dustpan: undefined, raw: 500 }], row: `| ${name} | none |  | 90 % |  |` },
    { rates: [{ dustpan: 450, raw: undefined }], row: `| ${name} | none |  | 90 % |  |` },
  ])('$row', ({ rates, row }) => {
    expect(rowOf(name, { rates })).toBe(row);
  });
});

test('the longest plan is judged as it is', () => {
  expect(rowOf('plan of one pass, longest', { planMs: [80, 101], peerCpuSeconds: 32 })).toMatch(/missed/);
  expect(rowOf('plan of one pass, longest', { planMs: [100, 80] })).toMatch(/\| met \|$/);
});

test('budgets are of 100 000 pods', () => {
  expect(section(result({ pods: 20_000, cpuSeconds: 30 }))).not.toMatch(/\| (met|\*\*missed\*\*) \|/);
});
