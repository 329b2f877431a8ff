import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatusUsageWorkload } from '../../../../src/api/gen/nodegcreport.gen.ts';
import {
  suggestView,
  type Allocatable,
  type Suggestion,
} from '../../../../src/commands/suggest/suggestions.ts';
import { patchesText, suggestTable } from '../../../../src/commands/suggest/table.ts';
import type { TopQuestion } from '../../../../src/commands/top/command.ts';
import type { TopFacts } from '../../../../src/commands/top/rows.ts';
import { yamlText } from '../../../../src/process/yaml-text.ts';
import { factsOf, gib, marked, mib, now, part, workload } from '../top/marked-nodes.ts';

const question: TopQuestion = {
  ...{ kind: 'workloads', sortBy: 'highest', isCurrentNamespace: false },
  ...{ namespace: undefined, nodes: undefined, selector: undefined },
};

const room = (bytes: number, pods?: number): Allocatable => ({ bytes, pods });
const viewOf = (facts: TopFacts, allocatable: readonly Allocatable[] | undefined = [room(90 * gib)]) =>
  suggestView({ facts, allocatable, question, workload: undefined }, now);

/** What is suggested for the only workload of a node. */
function suggested(one: NodeGCReportStatusUsageWorkload, ...others: TopFacts['reports']): Suggestion {
  const [first] = viewOf(factsOf([marked('node-1', [one]), ...others])).items;
  if (first === undefined) throw new Error('nothing is listed');
  return first;
}

/** `main 100/200`: the request and the limit of each part in MiB. */
const values = ({ parts }: Suggestion): readonly string[] =>
  parts.map(({ name, suggested: { requestBytes, limitBytes = 0 } }) =>
    [name, [...(requestBytes === undefined ? [] : [requestBytes / mib]), limitBytes / mib].join('/')].join(
      ' ',
    ),
  );

describe('values', () => {
  const volume = (name: string, highestMib: number) => part(name, highestMib, { kind: 'volume' });
  test.each([
    ['20 % more, rounded up', workload('web', 100), ['main 120/128']],
    ['to one of eight in each doubling', workload('web', 1100), ['main 1408/1408']],
    ['also if it is large', workload('web', 100 * 1024), ['main 122880/122880']],
    ['at least 16Mi and 128Mi', workload('web', 1), ['main 16/128']],
    [
      'the largest container gets the space of the emptyDirs',
      workload('web', 500, { parts: [part('a', 10), part('b', 100), volume('data', 400)] }),
      ['a 16/128', 'b 640/640', 'data 480'],
    ],
    [
      'and what no container has shown',
      workload('web', 200, { parts: [part('a', 10), part('s', 20, { kind: 'sidecar' })] }),
      ['a 16/128', 's 224/224'],
    ],
  ])('%s', (_, one, expected) => {
    expect(values(suggested(one))).toEqual(expected);
  });

  test('the limit, but not the request, fits what a node may have without listing it', () => {
    const other = marked('node-2', [], { otherWorkloads: { count: 1, highestBytes: 200 * mib } });
    const one = workload('web', 150, { parts: [part('a', 100), part('b', 50), volume('v', 1)] });
    expect(values(suggested(one, other))).toEqual(['a 120/240', 'b 60/240', 'v 240']);
    const unknown = suggested(one, other, marked('node-3', undefined));
    expect(unknown).toMatchObject({ unlistedBytes: 200 * mib, hasUnknownNodes: true });
    expect(values(unknown)).toEqual(values(suggested(one, other)));
  });

  test('a node that was watched for five minutes has no bound: the highest is a lower one', () => {
    const other = marked('node-2', [], { watchedSeconds: 300 });
    const view = viewOf(factsOf([marked('node-1', [workload('web', 150)]), other]));
    expect(view.items).toMatchObject([{ hasUnknownNodes: true }]);
    expect(view.notes).toMatchObject([{ reason: 'FewMarks', nodes: ['node-2'] }]);
    expect(suggestTable(view, undefined).join('\n')).toContain('≥150Mi');
    expect(patchesText(view.items, yamlText)).toContain(
      '# A node was watched for less than a day, or not at all',
    );
  });

  test.each([
    ['WatchedLessThanADay', { watchedSeconds: 86_399 }],
    ['TooManyParts', { otherParts: 1 }],
    ['NoContainer', { parts: [volume('data', 1)] }],
    ['NoContainer', { parts: undefined }],
    ['NotMeasured', { parts: [part('main', 1), part('late', undefined)] }],
    [undefined, { watchedSeconds: 86_400 }],
  ])('none: %s', (reason, more) => {
    const one = suggested(workload('web', 500, more));
    expect(one.reason).toBe(reason);
    expect(one.parts.length > 0).toBe(reason === undefined);
    expect(one.suggested.limitBytes === undefined).toBe(reason !== undefined);
  });

  test('how many fit on a node', () => {
    const facts = factsOf([marked('node-1', [workload('web', 1024)])]);
    const fits = (allocatable: readonly Allocatable[] | undefined) =>
      suggestView({ facts, allocatable, question, workload: undefined }, now).items[0]?.podsPerNode;
    expect(fits([room(10 * gib), room(20 * gib)])).toEqual({ least: 8, most: 16 });
    expect(fits([room(10 * gib, 110), room(20 * gib, 10)])).toEqual({ least: 8, most: 10 });
    expect(fits([])).toBeUndefined();
    expect(fits(undefined)).toBeUndefined();
  });
});

describe('present limits that a pod exceeded', () => {
  const imagefs = { name: 'imagefs' as const, capacityBytes: 1, availableBytes: 1, usedBytes: 0 };
  const limited = workload('web', 500, {
    limitBytes: 400 * mib,
    parts: [
      part('main', 300, { limitBytes: 299 * mib }),
      part('exact', 100, { limitBytes: 100 * mib }),
      part('none', 100, { limitBytes: 0 }),
      part('data', 200, { kind: 'volume', limitBytes: 100 * mib }),
    ],
  });
  const subjects = (more: Partial<NonNullable<TopFacts['reports'][number]['usage']>>) =>
    viewOf(factsOf([marked('node-1', [limited], more)])).items[0]?.exceeded.map(({ subject }) => subject);

  test('are those of the pod, of containers and of emptyDirs', () => {
    expect(subjects({})).toEqual(['pod', 'container/main', 'volume/data']);
  });

  test('are unknown of containers where images have a disk of their own', () => {
    expect(subjects({ fileSystems: [imagefs] })).toEqual(['pod', 'volume/data']);
  });
});

test('one workload is found by its name, and one that no report lists is an error', () => {
  const facts = factsOf([
    marked('node-1', [workload('web', 500), workload('api', 500)], {
      otherWorkloads: { count: 1, highestBytes: 40 * mib },
    }),
  ]);
  const find = (name: string) => suggestView({ facts, allocatable: [], question, workload: name }, now);
  expect(find('deployment/web').items).toMatchObject([{ name: 'web' }]);
  expect(() => find('deployment/wep')).toThrow(
    'no report lists deployment/wep in this namespace: it does not exist, or on each node with a report none of its pods was measured with more than 40.0Mi; did you mean',
  );
});

describe('output', () => {
  const facts = factsOf([
    marked('node-1', [
      workload('web', 900, {
        ...{ limitBytes: 512 * mib, requestBytes: 256 * mib },
        parts: [
          part('main', 500, { limitBytes: 512 * mib, requestBytes: 256 * mib }),
          part('proxy', 20, { kind: 'sidecar' }),
          part('data', 400, { kind: 'volume', limitBytes: 2 * gib }),
        ],
      }),
      workload('nightly', 30 * 1024, { kind: 'CronJob', watchedSeconds: 3 * 86_400, highestPod: undefined }),
      workload('new', 600, { watchedSeconds: 5 * 3600 }),
      workload('debug', 500, { kind: 'Pod', parts: [part('main', 500), part('late', undefined)] }),
    ]),
    marked('node-2', undefined),
  ]);
  const view = viewOf(facts, [room(90 * gib), room(180 * gib)]);

  test('is that of the file', async () => {
    const texts = {
      'suggest, piped': suggestTable(view, undefined).join('\n'),
      'suggest, on a terminal': suggestTable(view, 100).join('\n'),
      'suggest, nothing': suggestTable(viewOf(factsOf([]), undefined), undefined).join('\n'),
      'suggest -A, nothing': suggestTable(viewOf(factsOf([]), undefined), undefined, true).join('\n'),
      'suggest -o yaml': patchesText(view.items, yamlText),
    };
    const text = Object.entries(texts).map(([name, lines]) => `# ${name}\n\n${lines}\n`);
    await expect(text.join('\n')).toMatchFileSnapshot('./__snapshots__/suggest.txt');
  });

  test('a name cannot end the comment of a patch', () => {
    const bad = viewOf(factsOf([marked('node-1', [workload('a\nspec: {}', 500)])]));
    expect(patchesText(bad.items, yamlText)).not.toMatch(/^spec: \{\}/m);
  });
});

interface Sizes {
  readonly a: number;
  readonly b: number;
  readonly v: number;
  readonly other: number;
}

const totalOf = ({ a, b, v, other }: Sizes): number => a + b + v + other;
const most = (pods: readonly Sizes[], read: (pod: Sizes) => number): number => Math.max(...pods.map(read));

/** The marks of these pods. */
const marksOf = (pods: readonly Sizes[]) =>
  workload('web', most(pods, totalOf), {
    parts: [
      part(
        'a',
        most(pods, ({ a }) => a),
      ),
      part(
        'b',
        most(pods, ({ b }) => b),
      ),
      part(
        'v',
        most(pods, ({ v }) => v),
        { kind: 'volume' },
      ),
    ],
  });

test('the replay of the watched time exceeds no suggested limit, and twice as much exceeds one', () => {
  const size = fc.integer({ min: 0, max: 60 * 1024 });
  const pods = fc.array(fc.record({ a: size, b: size, v: size, other: fc.nat(200) }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(pods, fc.nat(4), (all, onFirst) => {
      const reports = [all.slice(0, onFirst), all.slice(onFirst)]
        .filter((some) => some.length > 0)
        .map((some, i) => marked(`node-${i}`, [marksOf(some)]));
      const [suggestion] = viewOf(factsOf(reports)).items;
      const limits = (suggestion?.parts ?? []).map(({ suggested: { limitBytes = 0 } }) => limitBytes / mib);
      const { requestBytes = 0, limitBytes = 0 } = suggestion?.suggested ?? {};
      expect(requestBytes).toBeLessThanOrEqual(limitBytes);
      for (const pod of all) {
        for (const [i, used] of [pod.a, pod.b, pod.v].entries())
          expect(1.2 * used).toBeLessThanOrEqual((limits[i] ?? 0) + 1e-6);
        expect(1.2 * totalOf(pod)).toBeLessThanOrEqual(limitBytes / mib + 1e-6);
      }
      // Each container may have had its highest in another pod.
      const apart = most(all, ({ a }) => a) + most(all, ({ b }) => b);
      expect(limitBytes / mib).toBeLessThanOrEqual(2 * Math.max(most(all, totalOf), apart, 128));
    }),
  );
});
