import { describe, expect, test } from 'vitest';
import type { Decision, PlanDocument, Totals } from '../../../../src/commands/plan/document.ts';
import {
  createdAtIn,
  nameText,
  planTable,
  type PlanTableOptions,
} from '../../../../src/commands/plan/table.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { minutesAgo, pod as podFacts } from '../../../builders.ts';
import { decision, plan } from './builders.ts';

const pod = (name: string, over: Partial<Decision> = {}): Decision =>
  decision({
    ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'default', mode: 'Enforce', order: 1 },
    object: { kind: 'Pod', namespace: 'web', name, uid: name, node: null },
    ...over,
  });
const waiting = (name: string, reason: Decision['reason']): Decision =>
  pod(name, { verdict: 'Keep', reason, order: null, eligibleAt: '2026-01-15T13:00:00Z' });
const totals = (over: Partial<Totals> = {}): Totals => ({
  ...{ unit: 'podgc', node: null, planned: 0, kept: 0, waiting: 0, reasons: {} },
  ...over,
});
const lines = (document: PlanDocument, over: Partial<PlanTableOptions> = {}): readonly string[] =>
  planTable(document, {
    ...{ colours: false, kept: false, assumeElapsed: false },
    ...{ width: 80, maxRows: 20, isWide: false, createdAt: () => undefined },
    ...over,
  }).split('\n');
const enforced = { name: 'default', mode: 'Enforce', planned: 1 } as const;
const dry = { name: 'trial', mode: 'DryRun', planned: 1 } as const;

test('has this layout', () => {
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
    'GCPolicy default is in mode Enforce: controller and agents will make 1 removal.',
    '',
    'UNIT   NODE      REMOVE  KEEP  WAITING',
    'podgc  -              1     1        1',
    '',
    '1 of the kept objects only waits for time (WAITING): UNTIL shows when they are',
    '  due.',
    '',
    'podgc: 1 to remove (Expired 1):',
    '#  VERDICT  REASON   OBJECT',
    '1  Delete   Expired  web/done',
    '',
    'podgc: 1 kept (TooYoung 1):',
    'REASON    UNTIL                 OBJECT',
    'TooYoung  2026-01-15T13:00:00Z  web/fresh',
    '',
  ]);
});

test('policies that are not in force would remove, and are compared with those in force', () => {
  const changes = {
    ...{ more: [pod('done')], less: [pod('old', { reason: 'Orphaned' })] },
    modes: [{ policy: 'trial', before: 'DryRun', after: 'Enforce' } as const],
  };
  const text = lines(plan({ policies: [enforced], proposed: true, changes })).join('\n');
  expect(text).toContain('GCPolicy default is in mode Enforce: controller and agents would make 1 removal.');
  expect(text).toContain(`Compared with the policies in force: 1 more to remove, 1 fewer.
GCPolicy trial changes from mode DryRun to Enforce.

Removed only with the given policies:
#  VERDICT  REASON   MODE     OBJECT
1  Delete   Expired  Enforce  web/done

Removed only with the policies in force:
#  VERDICT  REASON    MODE     OBJECT
1  Delete   Orphaned  Enforce  web/old`);
  expect(lines(plan({ policies: [dry], proposed: true }))).toContain(
    'GCPolicy trial is in mode DryRun: nothing would be removed.',
  );
});

describe('the effect of each policy', () => {
  test.each([
    {
      name: 'one in mode DryRun',
      policies: [dry],
      sentences: ['GCPolicy trial is in mode DryRun: nothing will be removed.'],
    },
    {
      name: 'several in mode DryRun',
      policies: [dry, { ...dry, name: 'second' }],
      sentences: ['GCPolicies trial, second are in mode DryRun: nothing will be removed.'],
    },
    {
      name: 'different modes: each with its own count',
      policies: [
        { ...enforced, planned: 7 },
        { ...dry, planned: 5 },
      ],
      sentences: [
        'GCPolicy default is in mode Enforce: controller and agents will make 7 removals.',
        'GCPolicy trial is in mode DryRun: 5 removals will not be made.',
      ],
    },
    {
      name: 'nothing due',
      policies: [{ ...enforced, planned: 0 }],
      sentences: ['GCPolicy default is in mode Enforce: it removes nothing listed here.'],
    },
  ])('$name', ({ policies, sentences }) => {
    expect(lines(plan({ policies })).filter((line) => line.startsWith('GCPolic'))).toEqual(sentences);
  });

  test('each row has its mode where policies have different ones', () => {
    const decisions = [pod('a'), pod('b', { mode: 'DryRun', policy: 'trial', order: 2 })];
    const text = (policies: PlanDocument['policies']): string =>
      lines(plan({ decisions, policies })).join('\n');
    expect(text([enforced, dry])).toMatch(/Expired {2}Enforce {2}web\/a\n.*Expired {2}DryRun {3}web\/b/);
    expect(text([enforced])).not.toContain('MODE');
  });
});

describe('the hint about waiting objects', () => {
  const hint = (reasons: Record<string, number>, over: Partial<PlanTableOptions> = {}, count = 3): string => {
    const document = plan({ totals: [totals({ kept: 3, waiting: count, reasons })] });
    const text = lines(document, over).join('\n');
    return /^\d of the kept objects[^.]*\.$/m.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? '';
  };

  test.each([
    { name: 'names the flag that lists them', reasons: { TooYoung: 3 }, over: {}, text: '--kept lists them' },
    {
      name: 'names the column UNTIL where that flag is given',
      ...{ reasons: { TooYoung: 3 }, over: { kept: true }, text: 'UNTIL shows' },
    },
    {
      name: 'names the flag that skips quarantines',
      ...{ reasons: { Quarantined: 3 }, over: {} },
      text: '--assume-quarantine-elapsed plans as if quarantines were over',
    },
  ])('$name', ({ reasons, over, text }) => {
    expect(hint(reasons, over)).toContain('3 of the kept objects only wait for time (WAITING): ');
    expect(hint(reasons, over)).toContain(text);
  });

  test.each([
    { name: 'without a quarantine', reasons: { TooYoung: 3 }, over: {} },
    { name: 'where that flag is given', reasons: { Quarantined: 3 }, over: { assumeElapsed: true } },
  ])('does not name --assume-quarantine-elapsed $name', ({ reasons, over }) => {
    expect(hint(reasons, over)).not.toContain('--assume');
  });

  test('is left out when nothing waits', () => {
    expect(hint({ NodeExists: 3 }, {}, 0)).toBe('');
  });
});

describe('nodes of which only the report was read', () => {
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

  test('have their own table, those that can free most first', () => {
    const document = plan({
      totals: [...reported('small'), ...reported('big', { removableBytes: 1024 ** 3 })],
    });
    expect(lines(document)).toEqual([
      'Plan for 2026-01-15T12:00:00Z',
      '',
      'Removable on other nodes, as their agents report, due now or not:',
      'NODE      IMAGES  CAN FREE  CONTAINERS  REPORT',
      'big            4   1.0 GiB           2      3m',
      'small          4   5.0 KiB           2      3m',
      '',
      'Nothing would be removed, except on nodes of which only the report was read.',
      '',
    ]);
  });

  test('are limited to one screen', () => {
    const names = Array.from({ length: 23 }, (_, i) => `node-${i}`);
    const text = lines(plan({ totals: names.flatMap((name) => reported(name)) }));
    expect(text).toContain('  and 3 more; -o json lists all');
    expect(text.filter((line) => line.startsWith('node-'))).toHaveLength(20);
  });

  test('share one line, at the top, when their agents report problems', () => {
    const document = plan({
      totals: ['a', 'b', 'c', 'd', 'e'].flatMap((name) => reported(name, { state: 'Degraded' })),
      notes: ['One more fact.'],
    });
    expect(lines(document)[2]).toBe(
      '! The agents of a, b, c and 2 more report problems; dustpan status shows them.',
    );
  });
});

const short: PlanDocument['summary'][number] = {
  ...{ unit: 'imagegc', node: 'n', state: 'Short', waiting: 0, crossed: ['bytes'] },
  ...{ wantedBytes: 2048, plannedBytes: 1024, usedPercent: 91 },
  ...{ wantedInodes: 0, plannedInodes: 0, usedInodesPercent: 95 },
};

test.each([
  { name: 'removals that free enough are not a free disk', state: 'Free', word: 'Enough' },
  { name: 'removals that free too little', state: 'Short', word: 'Short' },
  { name: 'a disk with enough space', state: 'Idle', word: 'Idle' },
])('the column STATE: $name', ({ state, word }) => {
  const document = plan({ totals: [totals({ unit: 'imagegc', node: 'n', state })] });
  expect(lines(document).find((line) => line.startsWith('imagegc'))).toMatch(new RegExp(` ${word}$`));
});

describe('problems come first', () => {
  test.each<{ name: string; over: Partial<PlanDocument>; line: string }>([
    {
      name: 'a unit without enough facts',
      over: { totals: [totals({ unit: 'imagegc', node: 'n', state: 'Unknown' })] },
      line: '! imagegc on n: too little is known to decide.',
    },
    {
      name: 'a disk that stays too full',
      over: { summary: [short] },
      line: '! imagegc on n: the image file system is 91 % full: 2.0 KiB must be freed, but',
    },
    {
      name: 'a disk with too few inodes',
      over: {
        summary: [{ ...short, crossed: ['bytes', 'inodes'], plannedBytes: 2048, wantedInodes: 300 }],
      },
      line: '! imagegc on n: the image file system has 95 % of its inodes in use: 300 must be',
    },
    {
      name: 'a disk where nothing can be removed',
      over: { summary: [{ ...short, wantedBytes: 0, plannedBytes: 0 }] },
      line: '! imagegc on n: the image file system is 91 % full: 0 B must be freed, but only',
    },
    {
      name: 'an open circuit breaker',
      over: { totals: [totals({ tripped: { default: 40 } })] },
      line: '! podgc: 40 % of the nodes are missing, more than GCPolicy default accepts:',
    },
  ])('$name', ({ over, line }) => {
    expect(lines(plan(over))[2]).toBe(line);
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
] as const)('shows the distinguishing part of a $object.kind', ({ object, text }) => {
  const one = {
    ...pod('x', { unit: 'containergc', verdict: 'Remove', reason: 'PodGone' }),
    object: { ...object, node: 'n' },
  };
  expect(lines(plan({ decisions: [one] })).find((line) => line.startsWith('1 '))).toBe(
    `1  Remove   PodGone  ${text}`,
  );
});

test('lists objects that no policy governs in the same way', () => {
  const image = decision({
    ...{ unit: 'imagegc', verdict: 'Keep', reason: 'RuleOff' },
    object: { kind: 'Image', id: 'sha256:0123456789abcdef', node: 'n' },
  });
  expect(lines(plan({ decisions: [image] }), { kept: true })).toContain('imagegc on n: 1 kept (RuleOff 1):');
});

test('counts that have no rows have the same title as those with rows', () => {
  const document = plan({
    decisions: [pod('done')],
    totals: [totals({ planned: 1, kept: 9, reasons: { Expired: 1, UnderThreshold: 8, KeepMarked: 1 } })],
  });
  expect(lines(document)).toContain('podgc: 9 kept (UnderThreshold 8, KeepMarked 1)');
});

test('no line is wider than 80, whatever the names and numbers', () => {
  const long = 'x'.repeat(253);
  const document = plan({
    decisions: [pod(long), waiting(long, 'Quarantined')],
    totals: [
      totals({
        ...{ unit: 'imagegc', node: long, state: 'Unknown' },
        ...{ planned: 1e9, kept: 1e9, waiting: 1e9, bytes: 1023e9 },
      }),
      totals({ unit: 'imagegc', node: `${long}y`, planned: null, reportedAt: null, state: 'Degraded' }),
    ],
    policies: [{ ...enforced, name: long }, dry],
    notes: [`${long} ${long}`],
  });
  expect(Math.max(...lines(document, { kept: true }).map((line) => line.length))).toBeLessThanOrEqual(80);
});

describe('AGE in a wide table', () => {
  const part: NodePart = {
    ...{ name: 'n', pods: undefined, images: undefined, sandboxes: undefined, sandboxImage: undefined },
    ...{ mounted: [], disk: undefined, usage: undefined, logs: undefined },
    containers: [
      {
        ...{
          id: 'c',
          name: 'main',
          sandboxId: 's',
          state: 'Exited',
          attempt: 0,
          labels: {},
          annotations: {},
        },
        ...{ imageId: 'i', imageRef: 'i', createdAtNs: BigInt(minutesAgo(90)) * 1_000_000n },
      },
    ],
    state: {
      images: new Map([['i', { firstDetectedMs: minutesAgo(3 * 24 * 60), lastUsedMs: undefined }]]),
      removed: [],
    },
  };
  const createdAt = createdAtIn({
    ...{ policies: [], nodes: undefined, namespaces: undefined, jobs: undefined, replicaSets: undefined },
    ...{ parts: [part], reports: [], notes: [] },
    pods: new Map([['done', podFacts('done', { createdAtMs: minutesAgo(2) })]]),
  });
  const on = (kind: 'Image' | 'Container', id: string, node = 'n'): Decision =>
    decision({ unit: 'imagegc', verdict: 'Remove', reason: 'Age', order: 1, object: { kind, id, node } });

  test.each([
    { name: 'of a pod', one: pod('done'), age: '2m' },
    { name: 'of an image since the agent first found it', one: on('Image', 'i'), age: '3d' },
    { name: 'of a container', one: on('Container', 'c'), age: '1h' },
    { name: 'of an unknown pod', one: pod('other'), age: undefined },
    { name: 'of the same image on another node', one: on('Image', 'i', 'm'), age: undefined },
  ])('$name: $age', ({ one, age }) => {
    const wide = lines(plan({ decisions: [one] }), { width: Infinity, isWide: true, createdAt });
    const [header = '', row = ''] = wide.slice(wide.findIndex((line) => line.includes('VERDICT')));
    expect(header.includes('AGE')).toBe(age !== undefined);
    if (age !== undefined) expect(row.slice(0, header.indexOf('AGE') + 3)).toMatch(new RegExp(` ${age}$`));
  });
});

test('a wide table has policy, node and detail, and cuts nothing', () => {
  const name = 'a-name-that-is-longer-than-the-column-of-objects-in-a-table-of-eighty-characters';
  const decisions = Array.from({ length: 30 }, (_, i) => pod(`${name}-${i}`, { order: i + 1 }));
  const document = plan({ decisions, totals: [totals({ planned: 30, reasons: { Expired: 30 } })] });
  const wide = lines(document, { width: Infinity, maxRows: Infinity, isWide: true });
  const header = wide.find((line) => line.includes('VERDICT'));
  expect(header).toMatch(/OBJECT +POLICY +DETAIL$/);
  expect(wide.filter((line) => line.includes(`web/${name}-`))).toHaveLength(30);
  expect(lines(document).filter((line) => line.includes('Expired'))).toHaveLength(21);
  expect(lines(document)).toContain('  and 10 more; -o wide lists all');
});

test.each([
  [pod('x'), 'pod/x -n web'],
  [pod('x', { object: { kind: 'Image', id: 'sha256:a', node: 'n' } }), 'image/sha256:a --node=n'],
  [pod('x', { object: { kind: 'LogFile', path: '/var/log/x', node: 'n' } }), 'container//var/log/x --node=n'],
])('%o has the name %s', (one, name) => {
  expect(nameText(one)).toBe(name);
});
