import { expect, test } from 'vitest';
import type {
  Decision,
  PlanDocument,
  PlanObject,
  Totals,
  Unknown,
} from '../../../../src/evaluation/plan/document.ts';
import { nameText, planTable, type PlanTableOptions } from '../../../../src/commands/plan/table.ts';
import { decision, plan } from './builders.ts';

const pod = (name: string, over: Partial<Decision> = {}): Decision =>
  decision({
    ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'default', mode: 'Enforce', order: 1 },
    object: { kind: 'Pod', namespace: 'web', name, uid: name, node: null },
    ...over,
  });
const waiting = (name: string, reason: Decision['reason']): Decision =>
  pod(name, { verdict: 'Keep', reason, order: null, eligibleAt: '2026-01-15T13:00:00Z' });
const removed = (object: Omit<Exclude<PlanObject, { readonly kind: 'Pod' }>, 'node'>): Decision =>
  pod('', {
    ...{ unit: 'containergc', verdict: 'Remove', reason: 'PodGone' },
    object: { ...object, node: 'node-1' },
  });
const totals = (over: Partial<Totals> = {}): Totals => ({
  ...{ unit: 'podgc', node: null, planned: 0, kept: 0, waiting: 0, reasons: {} },
  ...over,
});
const done = pod('done');
const enforced = { name: 'default', mode: 'Enforce', planned: 1 } as const;
const dry = { name: 'trial', mode: 'DryRun', planned: 1 } as const;

/** The totals of a node of which only the report was read. */
function reported(node: string, over: Partial<Totals> = {}): readonly Totals[] {
  const common = { node, planned: null, kept: null, waiting: null, reportedAt: '2026-01-15T11:57:00Z' };
  return [
    totals({ unit: 'imagegc', ...common, removable: 4, removableBytes: 5 * 1024, ...over }),
    totals({ unit: 'containergc', ...common, removable: 2, ...over }),
  ];
}

const onNodes = (nodes: readonly string[] | null): Unknown => ({
  ...{ what: 'nodes', policy: 'default', nodes, remedy: nodes && 'add --nodes' },
});
const ofPods = (name: string): Unknown => ({ what: 'pods', policy: name, nodes: null, remedy: null });

const quarantined = { totals: [totals({ kept: 3, waiting: 3, reasons: { Quarantined: 3 } })] };

/** An image file system that stays too full. */
const short: PlanDocument['summary'][number] = {
  ...{ unit: 'imagegc', node: 'node-1', state: 'Short', waiting: 0, crossed: ['bytes'] },
  ...{ wantedBytes: 2048, plannedBytes: 1024, usedPercent: 91 },
  ...{ wantedInodes: 0, plannedInodes: 0, usedInodesPercent: 95 },
};
const problems: Partial<PlanDocument> = {
  totals: [
    totals({ tripped: { default: 40 } }),
    totals({ unit: 'imagegc', node: 'node-4', state: 'Unknown' }),
    ...['a', 'b', 'c', 'd', 'e'].flatMap((name) => reported(name, { state: 'Degraded' })),
  ],
  summary: [
    short,
    { ...short, node: 'node-2', crossed: ['bytes', 'inodes'], plannedBytes: 2048, wantedInodes: 300 },
  ],
  notes: ['One more fact.'],
};

const uid = '0a1b2c3d-1111-2222-3333-444455556666';
const id = '0123456789abcdef';
const objects = [
  removed({ kind: 'Image', id: `sha256:${id}`, name: 'example.com/app:v1' }),
  removed({ kind: 'Container', id, name: 'main', pod: 'web/a' }),
  removed({ kind: 'Sandbox', id, pod: 'web/a' }),
  removed({ kind: 'Sandbox', id }),
  removed({ kind: 'LogDirectory', path: `/var/log/pods/web_a_${uid}` }),
  removed({ kind: 'LogLink', path: `/var/log/containers/a_web_main-${'0123abcd'.repeat(8)}.log` }),
  removed({ kind: 'LogFile', path: `/var/log/pods/web_a_${uid}/main/0.log.1` }),
  removed({ kind: 'PodDirectory', path: `/var/lib/kubelet/pods/${uid}` }),
  removed({ kind: 'PodCgroup', path: `/sys/fs/cgroup/kubepods/pod${uid}` }),
];

const long = 'x'.repeat(253);
const hugeTotals = { planned: 1e9, kept: 1e9, waiting: 1e9, bytes: 1023e9 };

const wide = { width: Infinity, maxRows: Infinity, isWide: true };
const longer = 'a-name-that-is-longer-than-the-column-of-objects-in-a-table-of-eighty-characters';
const thirty = Array.from({ length: 30 }, (_, i) => pod(`${longer}-${i}`, { order: i + 1 }));

type Case = Partial<PlanDocument> & { readonly options?: Partial<PlanTableOptions> };

const cases: Readonly<Record<string, Case>> = {
  'what is removed and kept': {
    decisions: [done, waiting('fresh', 'TooYoung')],
    totals: [totals({ planned: 1, kept: 1, waiting: 1, reasons: { Expired: 1, TooYoung: 1 } })],
    policies: [enforced],
    notes: ['Nodes are not known.'],
    options: { kept: true },
  },
  'proposed policies, compared with those in force': {
    policies: [enforced],
    proposed: true,
    changes: {
      more: [done],
      less: [pod('old', { reason: 'Orphaned' })],
      unknown: [],
      modes: [
        { policy: 'trial', before: 'DryRun', after: 'Enforce' },
        { policy: 'extra', before: null, after: 'DryRun' },
        { policy: 'old', before: 'Enforce', after: null },
      ],
    },
  },
  'policies of different modes, each with its own count': {
    decisions: [pod('a'), pod('b', { mode: 'DryRun', policy: 'trial', order: 2 })],
    policies: [
      { ...enforced, planned: 7 },
      { ...dry, planned: 5 },
      { ...dry, name: 'second', planned: 0 },
    ],
  },
  'objects that wait: the flags that list them, and that skip quarantines': quarantined,
  'objects that wait: where the latter is given': { ...quarantined, options: { assumeElapsed: true } },
  'the policies are not known': {
    unknown: [{ what: 'policies', policy: null, nodes: null, remedy: null }],
  },
  'nodes of which only the report was read': {
    totals: [...reported('small'), ...reported('big', { removableBytes: 1024 ** 3 })],
    policies: [{ ...enforced, planned: 0 }],
    unknown: [onNodes(['big', 'small'])],
  },
  'proposed policies: reports are about those in force, and the comparison is as unknown': {
    totals: reported('small'),
    policies: [{ ...enforced, planned: 0 }],
    proposed: true,
    unknown: [onNodes(['small'])],
    changes: { more: [], less: [], modes: [], unknown: [onNodes(['small'])] },
  },
  'unknown pods and nodes, besides what is known': {
    decisions: [done],
    totals: [totals({ planned: 1, kept: null, waiting: null, reasons: { Expired: 1 }, state: 'Unknown' })],
    policies: [enforced, { ...dry, planned: 0 }],
    proposed: true,
    unknown: [ofPods('default'), ofPods('trial'), { ...onNodes(null), policy: 'trial' }],
    changes: { more: [done], less: [pod('old')], modes: [], unknown: [ofPods('default')] },
  },
  'the states of disks: removals that free enough are not a free disk': {
    totals: ['Free', 'Short', 'Idle'].map((state) => totals({ unit: 'imagegc', node: 'node-1', state })),
  },
  'more nodes than fit one screen: those with nothing to remove are counted': {
    totals: Array.from({ length: 25 }, (_, i) =>
      totals({
        ...{ unit: 'imagegc', node: `node-${i}`, state: i === 3 ? 'Unknown' : 'Idle' },
        ...{ planned: i === 1 ? 2 : 0, waiting: i === 2 ? 1 : 0 },
      }),
    ),
  },
  'problems come first': problems,
  'the distinguishing part of each object': { decisions: objects },
  'long names and large numbers': {
    decisions: [pod(long), waiting(long, 'Quarantined')],
    totals: [
      totals({ unit: 'imagegc', node: long, state: 'Unknown', ...hugeTotals }),
      totals({ unit: 'imagegc', node: `${long}y`, planned: null, reportedAt: null, state: 'Degraded' }),
    ],
    policies: [{ ...enforced, name: long }, dry],
    notes: [`${long} ${long}`],
    options: { kept: true },
  },
  'more rows than fit one screen': { decisions: thirty },
  'wide: every row, and nothing is cut': { decisions: thirty, options: wide },
};

const tableOf = ({ options = {}, ...document }: Case): string =>
  planTable(plan(document), {
    ...{ colours: false, kept: false, assumeElapsed: false, width: 80, maxRows: 20, isWide: false },
    ...{ createdAt: () => undefined, proseWidth: 80 },
    ...options,
  });

test('the tables are those of the file, in 80 columns unless they are wide', async () => {
  const texts = Object.entries(cases).map(([name, one]) => {
    if (one.options?.isWide !== true) expect(tableOf(one)).not.toMatch(/.{81}/);
    return `# ${name}\n\n${tableOf(one)}`;
  });
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/plan.txt');
});

test('without headers, only the objects are left', () => {
  const text = tableOf({ decisions: [done, pod('other')], notes: ['A note.'], options: { headers: false } });
  expect(text).toMatch(/^\S+ .*web\/done\n\S+ .*web\/other\n$/);
});

test('an object that only the given policies remove is listed once', () => {
  const changes = { more: [done], less: [], modes: [], unknown: [] };
  const text = tableOf({ decisions: [done, pod('other')], changes });
  expect(text.match(/web\/(done|other)/g)).toEqual(['web/done', 'web/other']);
});

test.each([
  [pod('x'), 'pod/x -n web'],
  [removed({ kind: 'Image', id: 'sha256:a' }), 'image/sha256:a --node=node-1'],
  [removed({ kind: 'LogFile', path: '/var/log/x' }), 'container//var/log/x --node=node-1'],
])('%o has the name %s', (one, name) => {
  expect(nameText(one)).toBe(name);
});
