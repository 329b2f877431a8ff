import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noHistory } from '../../../../src/agent/usage/forecast.ts';
import { noMarks, observeMarks } from '../../../../src/agent/usage/marks.ts';
import { planUsage } from '../../../../src/agent/usage/plan.ts';
import { suggestView, type Suggestion } from '../../../../src/commands/suggest/suggestions.ts';
import { marksFormat, type Marks } from '../../../../src/node/disk/marks-format.ts';
import { container, emptyDir, storagePod } from '../../agent/localstorage/builders.ts';
import { factsOf, marked, mib, now } from '../top/marked-nodes.ts';

const minuteMs = 60_000;
/** Each is watched for 5 minutes: nine days. */
const passes = 9 * 24 * 12;

/** Bytes by `partKey`. */
type Sample = ReadonlyMap<string, number>;

const sizes = fc.integer({ min: 100, max: 2000 });
const weeks = fc.record({
  /** MiB of a usual pod. */
  usual: fc.record({ main: sizes, side: sizes, data: sizes }),
  /** So much of it does a pod use, and the next one, which replaces it; repeated. */
  shares: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 40 }),
  /** Passes at which the clock has jumped. */
  jumps: fc.array(fc.record({ at: fc.nat(passes), elapsedMs: fc.constantFrom(-9e9, 0, 9e9) }), {
    maxLength: 5,
  }),
  /** The pass at which the agent starts with a cut file, and how much of it is left. */
  cut: fc.option(fc.record({ at: fc.nat(passes), part: fc.double({ min: 0, max: 0.99, noNaN: true }) })),
});
type Week = typeof weeks extends fc.Arbitrary<infer T> ? T : never;

const sampleOf = ({ usual, shares }: Week, pass: number): Sample => {
  const share = (shares[pass % shares.length] ?? 0) / 100;
  return new Map([
    ['container/main', Math.floor(usual.main * share * mib)],
    ['container/side', Math.floor(usual.side * (1.01 - share) * mib)],
    ['volume/data', Math.floor(usual.data * share * mib)],
  ]);
};

const total = (sample: Sample): number => [...sample.values()].reduce((a, b) => a + b, 0);

/** The marks of the week, and what was measured since they were begun. */
function watched(week: Week): { readonly marks: Marks; readonly samples: readonly Sample[] } {
  let marks = noMarks;
  let samples: Sample[] = [];
  for (let pass = 0; pass < passes; pass += 1) {
    if (pass === week.cut?.at) {
      const text = marksFormat.format(marks);
      const read = marksFormat.parse(text.slice(0, Math.floor(text.length * week.cut.part)));
      expect(read.kind).toBe('startOver');
      marks = noMarks;
      samples = [];
    }
    const sample = sampleOf(week, pass);
    const pod = storagePod(
      `web-${pass}`,
      { containers: [container('main'), container('side')], emptyDirs: [emptyDir('data')] },
      { workload: { kind: 'Deployment', name: 'web' } },
    );
    const jump = week.jumps.find(({ at }) => at === pass);
    marks = observeMarks(
      marks,
      [{ pod, bytes: total(sample), parts: sample }],
      jump?.elapsedMs ?? 5 * minuteMs,
    );
    samples.push(sample);
  }
  return { marks, samples: samples.slice(-7 * 24 * 12) };
}

function suggested(marks: Marks): Suggestion | undefined {
  const measured = {
    at: now,
    disks: [],
    pods: [],
    partial: [],
    namespaces: [],
    places: undefined,
    workloads: [],
    volumes: [],
  };
  const unknown = {
    images: undefined,
    unmeasured: [],
    bound: undefined,
    podSlots: undefined,
    unknown: [],
    lists: 'full' as const,
  };
  const { usage } = planUsage({ ...{ measured, history: noHistory, marks }, ...unknown });
  const question = {
    ...{ kind: 'workloads' as const, sortBy: 'highest', isCurrentNamespace: false },
    ...{ namespace: undefined, nodes: undefined, selector: undefined },
  };
  const facts = factsOf([marked('node-1', usage.workloads)]);
  return suggestView({ facts, allocatable: [], question, workload: undefined }, now).items[0];
}

/** As the kubelet compares (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). */
function isEvicted(sample: Sample, { parts }: Suggestion): boolean {
  const limits = parts.map(({ kind, name, suggested: { limitBytes = 0 } }) => ({ kind, name, limitBytes }));
  const ofPod = limits.reduce((all, { kind, limitBytes }) => (kind === 'volume' ? all : all + limitBytes), 0);
  return (
    total(sample) > ofPod ||
    limits.some(({ kind, name, limitBytes }) => (sample.get(`${kind}/${name}`) ?? Infinity) > limitBytes)
  );
}

test('the suggested limits evict no pod of the last week, and one that uses three times as much', () => {
  fc.assert(
    fc.property(weeks, (week) => {
      const { marks, samples } = watched(week);
      const one = suggested(marks);
      if (one?.reason !== undefined) {
        expect(one).toMatchObject({ reason: 'WatchedLessThanADay', parts: [] });
        expect(marks.observedMs).toBeLessThan(24 * 60 * minuteMs);
        return;
      }
      expect(one?.parts).toHaveLength(3);
      if (one === undefined) return;
      expect(samples.filter((sample) => isEvicted(sample, one))).toEqual([]);
      const [largest = new Map<string, number>()] = samples.toSorted((a, b) => total(b) - total(a));
      const runaway = new Map([...largest].map(([part, bytes]) => [part, 3 * bytes]));
      expect(isEvicted(runaway, one)).toBe(true);
    }),
    { numRuns: 25 },
  );
}, 120_000);
