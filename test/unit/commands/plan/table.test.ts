import { describe, expect, test } from 'vitest';
import type { Decision, PlanDocument, Totals } from '../../../../src/commands/plan/document.ts';
import { planTable, type PlanTableOptions } from '../../../../src/commands/plan/table.ts';

const pod = (name: string, over: Partial<Decision> = {}): Decision => ({
  ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'default', mode: 'Enforce', order: 1 },
  object: { kind: 'Pod', namespace: 'web', name, uid: name, node: null },
  ...{ eligibleAt: null, bytes: null, detail: 'It has finished.', field: null },
  ...over,
});
const waiting = (name: string, reason: Decision['reason']): Decision =>
  pod(name, { verdict: 'Keep', reason, order: null, eligibleAt: '2026-01-15T13:00:00Z' });
const totals = (over: Partial<Totals> = {}): Totals => ({
  ...{ unit: 'podgc', node: null, planned: 0, kept: 0, waiting: 0, reasons: {} },
  ...over,
});
const plan = (over: Partial<PlanDocument> = {}): PlanDocument => ({
  ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Plan', generatedAt: '2026-01-15T12:00:00Z' },
  ...{ decisions: [], summary: [], totals: [], policies: [], notes: [] },
  ...over,
});
const options: PlanTableOptions = { colours: false, kept: false, assumeElapsed: false };
const lines = (document: PlanDocument, over: Partial<PlanTableOptions> = {}): readonly string[] =>
  planTable(document, { ...options, ...over }).split('\n');
const enforced = { name: 'default', mode: 'Enforce', planned: 1 } as const;
const dry = { name: 'trial', mode: 'DryRun', planned: 1 } as const;

test('looks like this', () => {
  const document = plan({
    decisions: [pod('done'), waiting('fresh', 'TooYoung')],
    totals: [totals({ planned: 1, kept: 1, waiting: 1, reasons: { Expired: 1, TooYoung: 1 } })],
    policies: [enforced],
    notes: ['Nodes are not known.'],
  });
  expect(lines(document, { kept: true })).toEqual([
    'Plan for 2026-01-15T12:00:00Z',
    '',
    '! Nodes are not known.',
    '',
    'GCPolicy default is in Enforce: what goes by it (1) will really be removed.',
    '',
    'UNIT   NODE      GO  STAY  WAIT',
    'podgc  -          1     1     1',
    '',
    'Of those that stay 1 only waits for time (WAIT): UNTIL tells when it is over.',
    '',
    'podgc: 1 goes (Expired 1):',
    '#  VERDICT  REASON   OBJECT',
    '1  Delete   Expired  web/done',
    '',
    'podgc: 1 stays (TooYoung 1):',
    'REASON    UNTIL                 OBJECT',
    'TooYoung  2026-01-15T13:00:00Z  web/fresh',
    '',
  ]);
});

describe('what will really happen', () => {
  test.each([
    {
      name: 'one dry run',
      policies: [dry],
      told: ['GCPolicy trial is in DryRun: nothing will be touched.'],
    },
    {
      name: 'several dry runs',
      policies: [dry, { ...dry, name: 'second' }],
      told: ['GCPolicies trial, second are in DryRun: nothing will be touched.'],
    },
    {
      name: 'mixed: each with its own count',
      policies: [
        { ...enforced, planned: 12 },
        { ...dry, planned: 5 },
      ],
      told: [
        'GCPolicy default is in Enforce: what goes by it (12) will really be removed.',
        'GCPolicy trial is in DryRun: what goes by it (5) will not be touched.',
      ],
    },
    {
      name: 'nothing due',
      policies: [{ ...enforced, planned: 0 }],
      told: ['GCPolicy default is in Enforce: nothing listed here goes by it.'],
    },
  ])('$name', ({ policies, told }) => {
    expect(lines(plan({ policies })).filter((line) => line.startsWith('GCPolic'))).toEqual(told);
  });

  test('each row tells its mode where there are two', () => {
    const decisions = [pod('a'), pod('b', { mode: 'DryRun', policy: 'trial', order: 2 })];
    const text = (policies: PlanDocument['policies']): string =>
      lines(plan({ decisions, policies })).join('\n');
    expect(text([enforced, dry])).toMatch(/Expired {2}Enforce {2}web\/a\n.*Expired {2}DryRun {3}web\/b/);
    expect(text([enforced])).not.toContain('MODE');
  });
});

describe('the hint at what waits', () => {
  const waits = (reasons: Record<string, number>): PlanDocument =>
    plan({ totals: [totals({ kept: 3, waiting: 3, reasons })] });
  const hint = (document: PlanDocument, over: Partial<PlanTableOptions> = {}): string =>
    /^Of those that stay[^.]*\.$/m.exec(lines(document, over).join('\n'))?.[0].replaceAll(/\s+/g, ' ') ?? '';

  test.each([
    { name: 'names the flag that lists them', reasons: { TooYoung: 3 }, over: {}, says: '--kept lists them' },
    { name: 'not when it is given', reasons: { TooYoung: 3 }, over: { kept: true }, says: 'UNTIL tells' },
    {
      name: 'of a quarantine names the flag that skips it',
      reasons: { Quarantined: 3 },
      over: {},
      says: '--assume-quarantine-elapsed plans as if quarantines were over',
    },
  ])('$name', ({ reasons, over, says }) => {
    expect(hint(waits(reasons), over)).toContain(`3 only wait for time (WAIT): `);
    expect(hint(waits(reasons), over)).toContain(says);
  });

  test.each([
    { name: 'of no quarantine', reasons: { TooYoung: 3 }, over: {} },
    { name: 'when it is given', reasons: { Quarantined: 3 }, over: { assumeElapsed: true } },
  ])('does not name --assume-quarantine-elapsed: $name', ({ reasons, over }) => {
    expect(hint(waits(reasons), over)).not.toContain('--assume');
  });

  test('is left out when nothing waits', () => {
    expect(hint(plan({ totals: [totals({ kept: 3, reasons: { NodeExists: 3 } })] }))).toBe('');
  });
});

describe('nodes that were not looked into', () => {
  const reported = (node: string, over: Partial<Totals> = {}): readonly Totals[] => {
    const common = {
      ...{ node, planned: null, kept: null, waiting: null },
      reportedAt: '2026-01-15T11:57:00Z',
    };
    return [
      totals({ unit: 'imagegc', ...common, removable: 4, removableBytes: 5 * 1024, ...over }),
      totals({ unit: 'containergc', ...common, removable: 2, ...over }),
    ];
  };

  test('stand apart, with what may be removed some day, those with most first', () => {
    const document = plan({
      totals: [...reported('small'), ...reported('big', { removableBytes: 1024 ** 3 })],
    });
    expect(lines(document)).toEqual([
      'Plan for 2026-01-15T12:00:00Z',
      '',
      'What agents report as removable, whether it is due now or not:',
      'NODE      IMAGES  CAN FREE  CONTAINERS  REPORT',
      'big            4   1.0 GiB           2      3m',
      'small          4   5.0 KiB           2      3m',
      '',
      'Nothing that was looked into would be removed.',
      '',
    ]);
  });

  test('are cut to a screen', () => {
    const names = Array.from({ length: 23 }, (_, i) => `node-${i}`);
    const text = lines(plan({ totals: names.flatMap((name) => reported(name)) }));
    expect(text).toContain('  and 3 more; -o json has all');
    expect(text.filter((line) => line.startsWith('node-'))).toHaveLength(20);
  });

  test('whose agents are in trouble are told in one line, first', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const document = plan({
      totals: names.flatMap((name) => reported(name, { state: 'Degraded' })),
      notes: ['One more thing.'],
    });
    expect(lines(document)[2]).toBe(
      '! The agents of a, b, c and 2 more report trouble: dustpan status tells what it',
    );
  });
});

describe('trouble stands first', () => {
  test.each<{ name: string; over: Partial<PlanDocument>; says: string }>([
    {
      name: 'a unit that knows too little',
      over: { totals: [totals({ unit: 'imagegc', node: 'n', state: 'Unknown' })] },
      says: '! imagegc on n: too little is known to decide.',
    },
    {
      name: 'a disk that stays too full',
      over: {
        summary: [
          {
            ...{ unit: 'imagegc', node: 'n', state: 'Short', waiting: 0 },
            ...{ wantedBytes: 2048, plannedBytes: 1024, usedPercent: 91 },
          },
        ],
      },
      says: '! imagegc on n: the image file system is 91 % full and 2.0 KiB are wanted, but',
    },
    {
      name: 'a breaker that has tripped',
      over: { totals: [totals({ tripped: { default: 40 } })] },
      says: '! podgc: 40 % of the nodes are missing, and GCPolicy default does not believe',
    },
  ])('$name', ({ over, says }) => {
    expect(lines(plan(over))[2]).toBe(says);
    expect(lines(plan(over), { colours: true })[2]).toContain('\u001b[31m!');
    expect(lines(plan(over)).join()).not.toContain('\u001b');
  });
});

test.each([
  {
    object: { kind: 'Image', id: 'sha256:0123456789abcdef', name: 'example.com/app:v1' },
    text: 'example.com/app:v1 0123456789ab',
  },
  {
    object: { kind: 'Container', id: '0123456789abcdef', name: 'main', pod: 'web/a' },
    text: 'web/a main 0123456789ab',
  },
  {
    object: { kind: 'Sandbox', id: '0123456789abcdef', pod: 'web/a' },
    text: 'sandbox of web/a 0123456789ab',
  },
  {
    object: { kind: 'LogDirectory', path: '/var/log/pods/web_a_0a1b2c3d-1111-2222-3333-444455556666' },
    text: '…/web_a_0a1b2c3d…',
  },
  {
    object: { kind: 'LogLink', path: `/var/log/containers/a_web_main-${'0123abcd'.repeat(8)}.log` },
    text: '…/a_web_main-0123abcd….log',
  },
  {
    object: {
      kind: 'LogFile',
      path: '/var/log/pods/web_a_0a1b2c3d-1111-2222-3333-444455556666/main/0.log.1',
    },
    text: '…/web_a/main/0.log.1',
  },
] as const)('of a $object.kind is shown what tells it apart', ({ object, text }) => {
  const decision: Decision = {
    ...pod('x', { unit: 'containergc', verdict: 'Remove', reason: 'PodGone' }),
    object: { ...object, node: 'n' },
  };
  expect(lines(plan({ decisions: [decision] })).find((line) => line.startsWith('1 '))).toBe(
    `1  Remove   PodGone  ${text}`,
  );
});

test('what no policy governs is named like everything else', () => {
  const image: Decision = {
    ...pod('x', { unit: 'imagegc', verdict: 'Keep', reason: 'RuleOff', order: null }),
    object: { kind: 'Image', id: 'sha256:0123456789abcdef', node: 'n' },
  };
  expect(lines(plan({ decisions: [image] }), { kept: true })).toContain('imagegc on n: 1 stays (RuleOff 1):');
});

test('sums without rows are listed in the words that stand above rows', () => {
  const document = plan({
    decisions: [pod('done')],
    totals: [totals({ planned: 1, kept: 9, reasons: { Expired: 1, UnderThreshold: 8, KeepMarked: 1 } })],
  });
  expect(lines(document)).toContain('podgc: 9 stay (UnderThreshold 8, KeepMarked 1)');
});

test('no line is wider than 80, whatever the names and figures', () => {
  const long = 'x'.repeat(253);
  const document = plan({
    decisions: [pod(long), waiting(long, 'Quarantined')],
    totals: [
      totals({
        unit: 'imagegc',
        node: long,
        planned: 1e9,
        kept: 1e9,
        waiting: 1e9,
        bytes: 1023e9,
        state: 'Unknown',
      }),
      totals({ unit: 'imagegc', node: `${long}y`, planned: null, reportedAt: null, state: 'Degraded' }),
    ],
    policies: [{ ...enforced, name: long }, dry],
    notes: [`${long} ${long}`],
  });
  expect(Math.max(...lines(document, { kept: true }).map((line) => line.length))).toBeLessThanOrEqual(80);
});
