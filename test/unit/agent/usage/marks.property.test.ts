import fc from 'fast-check';
import { expect, test } from 'vitest';
import { highestOf, listedMarks, noMarks, observeMarks } from '../../../../src/agent/usage/marks.ts';
import { marksFormat, type Marks } from '../../../../src/node/disk/marks-format.ts';
import { storagePod } from '../localstorage/builders.ts';

const minuteMs = 60_000;
const weekMs = 7 * 24 * 60 * minuteMs;
const kinds = ['Deployment', 'CronJob'];

const passes = fc.array(
  fc.record({
    // Hours are more than is watched between two passes; a clock may also go back.
    elapsedMs: fc.oneof(fc.integer({ min: -minuteMs, max: 5 * minuteMs }), fc.constant(9e9)),
    // As many passes that measure the same.
    times: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 900 })),
    pods: fc.array(fc.record({ workload: fc.nat(3), bytes: fc.option(fc.nat(1000)) }), { maxLength: 4 }),
    isRestarted: fc.boolean(),
  }),
  { maxLength: 12 },
);

interface Measured {
  readonly own: readonly { readonly atMs: number; readonly bytes: number }[];
  readonly atMs: number;
}

/** Of a week at least, of eight days at most; the same for its container. */
function expectMark(marks: Marks, workload: number, { own, atMs }: Measured): void {
  const most = (all: Measured['own']): number => Math.max(0, ...all.map(({ bytes }) => bytes));
  const found = marks.workloads.filter(({ name }) => name === `w${workload}`);
  const peaks = found.flatMap((one) => one.peaks);
  expect(highestOf(peaks)).toBeGreaterThanOrEqual(most(own.filter((one) => atMs - one.atMs <= weekMs)));
  expect(highestOf(peaks)).toBeLessThanOrEqual(most(own));
  expect(peaks.length).toBeLessThanOrEqual(8);
  for (const part of found.flatMap(({ parts }) => parts))
    expect(highestOf(part.peaks)).toBe(highestOf(peaks));
}

test('a mark is never lower than what was measured in the last seven days, and never higher than in eight', () => {
  fc.assert(
    fc.property(passes, (given) => {
      let marks = noMarks;
      let atMs = 0;
      let longer: { atMs: number; workload: number; bytes: number }[] = [];
      for (const { elapsedMs, times, pods, isRestarted } of given) {
        const watched = pods.map(({ workload, bytes }, i) => ({
          pod: storagePod(
            `p${i}`,
            {},
            { workload: { kind: kinds[workload % 2] ?? '', name: `w${workload}` } },
          ),
          bytes: bytes ?? undefined,
          parts: new Map(bytes === null ? [] : [['container/main', bytes]]),
        }));
        for (let i = 0; i < times; i += 1) {
          marks = observeMarks(marks, watched, elapsedMs);
          atMs += Math.min(Math.max(0, elapsedMs), 5 * minuteMs);
        }
        const now = pods.flatMap(({ workload, bytes }) =>
          bytes === null ? [] : [{ atMs, workload, bytes }],
        );
        longer = [...longer, ...now].filter((one) => atMs - one.atMs <= weekMs + weekMs / 7);
        if (isRestarted) {
          const parsed = marksFormat.parse(marksFormat.format(marks));
          marks = parsed.kind === 'read' ? parsed.state : noMarks;
        }
        for (const workload of [0, 1, 2, 3]) {
          const own = longer.filter((one) => one.workload === workload);
          expectMark(marks, workload, { own, atMs });
        }
      }
    }),
  );
});

test('the bytes of a pod are listed, or not higher than those of the others', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 700 });
  fc.assert(
    fc.property(sizes, sizes, (first, second) => {
      const pass = (all: readonly number[], from: number) =>
        all.map((size, i) => ({
          pod: storagePod(`p${i}`, {}, { workload: { kind: 'Job', name: `j${from + i}` } }),
          bytes: size * 1024 ** 2,
          parts: new Map<string, number>(),
        }));
      const before = observeMarks(noMarks, pass(first, 0), minuteMs);
      const marks = observeMarks(before, pass(second, first.length), minuteMs);
      const { listed, others } = listedMarks(marks, 20);
      const names = new Set(listed.map(({ name }) => name));
      expect(marks.workloads.length).toBeLessThanOrEqual(512);
      expect(listed.length).toBeLessThanOrEqual(20);
      for (const [i, size] of [...first, ...second].entries())
        expect(names.has(`j${i}`) || size * 1024 ** 2 <= others.highestBytes).toBe(true);
    }),
    { numRuns: 30 },
  );
});
