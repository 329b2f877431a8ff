import { expect, test } from 'vitest';
import { reportData, usedShare } from '../../../../src/commands/report/data.ts';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { minutesAgo, pod as builtPod } from '../../../builders.ts';
import { factsOf, partOf } from '../facts.ts';
import { decision, plan } from '../plan/builders.ts';

const noFacts = factsOf({});
const part = (name: string, over: Partial<NodePart>): NodePart => partOf({ name, disk: undefined, ...over });
const pod = (name: string, namespace: string) =>
  ({ kind: 'Pod', namespace, name, uid: name, node: 'node-1' }) as const;
const image = { kind: 'Image', id: 'sha256:a', node: 'node-1' } as const;
const waiting = (name: string, eligibleAt: string) =>
  decision({
    ...{ unit: 'podgc', verdict: 'Keep', reason: 'TooYoung', policy: 'p', object: pod(name, 'web') },
    eligibleAt,
  });
const document = plan({
  decisions: [
    decision({
      ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'p', order: 1 },
      object: pod('a', 'web'),
    }),
    waiting('b', '2026-01-16T01:00:00Z'),
    waiting('far', '2026-03-16T01:00:00Z'),
    decision({ unit: 'podgc', verdict: 'Keep', reason: 'NoPolicy', object: pod('c', 'db') }),
    decision({
      ...{ unit: 'imagegc', verdict: 'Remove', reason: 'Space', policy: 'q', order: 1, object: image },
      bytes: 7,
    }),
    decision({
      ...{ unit: 'containergc', verdict: 'Warn', reason: 'LogTooLarge', policy: 'q' },
      object: { kind: 'LogFile', path: '/var/log/pods/x', node: 'node-2', pod: 'web/a' },
    }),
  ],
});

test('counts what happens by policy, namespace, node and reason', () => {
  const data = reportData(document, noFacts);
  expect(data.total).toEqual({ name: '', remove: 2, bytes: 7, warn: 1, waiting: 2, keep: 1 });
  const counts = (shares: typeof data.byPolicy) =>
    shares.map(({ name, remove, warn, waiting, keep }) => [name, remove, warn, waiting, keep]);
  expect(counts(data.byPolicy)).toEqual([
    ['p', 1, 0, 2, 0],
    ['q', 1, 1, 0, 0],
    ['no policy', 0, 0, 0, 1],
  ]);
  expect(counts(data.byNamespace)).toEqual([
    ['web', 1, 1, 2, 0],
    ['db', 0, 0, 0, 1],
  ]);
  expect(counts(data.byNode)).toEqual([
    ['node-1', 2, 0, 2, 1],
    ['node-2', 0, 1, 0, 0],
  ]);
  const reasons = ['Expired', 'Space', 'NoPolicy', 'LogTooLarge', 'TooYoung'];
  expect(data.byReason.map(({ name }) => name)).toEqual(reasons);
});

test('what becomes due within seven days, by day', () => {
  expect(reportData(document, noFacts).due).toEqual([{ day: '2026-01-16', objects: 1, bytes: 0 }]);
});

test('disks: as the kubelet measures them, else as the runtime does', () => {
  const measured = part('node-1', {
    disk: { capacityBytes: 1, availableBytes: 1 },
    usage: {
      ...{ atMs: 1, dedicatedImageFs: false, splitContainerFs: false, pods: new Map(), impossible: [] },
      signals: [
        { signal: 'nodefs.available', available: 50, capacity: 100, measuredAtMs: 1 },
        { signal: 'nodefs.inodesFree', available: 10, capacity: 100, measuredAtMs: 1 },
        { signal: 'memory.available', available: 0, capacity: 100, measuredAtMs: 1 },
      ],
    },
  });
  const plain = part('node-2', {
    disk: { capacityBytes: 100, availableBytes: 20, inodes: 10, inodesFree: 9 },
  });
  const empty = part('node-3', { disk: { capacityBytes: 0, availableBytes: 0 } });
  const { disks } = reportData(plan(), { ...noFacts, parts: [empty, measured, plain, part('node-4', {})] });
  expect(disks.map((one) => [one.node, one.name, one.unit, Math.round(usedShare(one) * 100)])).toEqual([
    ['node-1', 'nodefs', 'inodes', 90],
    ['node-2', 'imagefs', 'bytes', 80],
    ['node-1', 'nodefs', 'bytes', 50],
    ['node-2', 'imagefs', 'inodes', 10],
    ['node-3', 'imagefs', 'bytes', 0],
  ]);
});

test('the largest images, one row each, and where they go; the largest logs by pod', () => {
  const named = (id: string, tags: string[], sizeBytes: number, digests: string[] = []) => ({
    ...{ id, tags, digests, sizeBytes, pinned: false, runtimeHandler: '' },
  });
  const images = [
    named('sha256:a', ['a:1'], 5),
    named('sha256:b', [], 9, ['b@sha256:1']),
    named('sha256:c', [], 1),
  ];
  const entry = (path: string, bytes: number) => ({ path, bytes, mtimeMs: 0 });
  const logs = {
    ...{ roots: { pods: '/logs', containers: '/links' }, directories: [], complete: true },
    entries: [entry('/logs/web_a_1/c/0.log', 3), entry('/logs/web_a_1/c/1.log', 4), entry('/links/x', 90)],
  };
  const parts = [part('node-1', { images, logs }), part('node-2', { images: images.slice(0, 1) })];
  const data = reportData(document, { ...noFacts, parts });
  expect(data.images).toEqual([
    { name: 'b@sha256:1', bytes: 9, nodes: 1, removedOn: 0 },
    { name: 'a:1', bytes: 5, nodes: 2, removedOn: 1 },
    { name: 'sha256:c', bytes: 1, nodes: 1, removedOn: 0 },
  ]);
  expect(data.logs).toEqual([{ name: 'web_a_1 on node-1', bytes: 7, nodes: 1, removedOn: 0 }]);
});

test('has the logs of the shown pods alone', () => {
  const log = (directory: string) => ({ path: `/l/${directory}/c/0.log`, bytes: 1, mtimeMs: 0 });
  const entries = [log('web_a_u'), log('web_b_u'), log('db_a_u'), log('7a2b')];
  const logs = { roots: { pods: '/l', containers: '/c' }, entries, directories: [], complete: true };
  const facts = { ...noFacts, parts: [part('n', { logs })] };
  const names = (isShown?: (pod: string) => boolean) =>
    reportData(document, facts, isShown).logs.map(({ name }) => name.split(' ')[0]);
  expect(names()).toEqual(['web_a_u', 'web_b_u', 'db_a_u', '7a2b']);
  expect(names((pod) => pod === 'web/a')).toEqual(['web_a_u']);
});

test('the stuck pods that are shown, longest first, and what dustpan does about them', () => {
  const stuck = (name: string, minutes: number) =>
    builtPod(name, {
      ...{ deletionAtMs: minutesAgo(minutes), deletionGracePeriodSeconds: 30, phase: 'Running' },
      ...{ uid: name, nodeName: 'gone' },
    });
  const facts = factsOf({
    pods: [stuck('web/a', 10), stuck('web/b', 20), stuck('db/c', 30), stuck('web/d', 9)],
  });
  const deleted = { kind: 'Pod', namespace: 'web', name: 'a', uid: 'web/a', node: 'gone' } as const;
  const orphaned = { unit: 'podgc', mode: 'Enforce', policy: 'p', object: deleted } as const;
  const adviceWith = (over: Pick<Decision, 'verdict' | 'reason'> & Partial<Decision>) =>
    reportData(
      plan({ decisions: [decision({ ...orphaned, ...over })] }),
      facts,
      (one) => one !== 'db/c',
    ).stuck.map(({ name, cause, advice, command }) => [name, cause, command === null ? advice : 'by hand']);
  const byHand = ['web/b', 'NoNode', 'by hand'];
  expect(adviceWith({ verdict: 'Delete', reason: 'Orphaned', order: 1 })).toEqual([
    byHand,
    ['web/a', 'NoNode', 'dustpan deletes it in the next pass of the controller: Orphaned, GCPolicy p.'],
  ]);
  expect(adviceWith({ verdict: 'Keep', reason: 'Quarantined', eligibleAt: '2026-01-15T12:00:40Z' })).toEqual([
    byHand,
    ['web/a', 'NoNode', 'dustpan deletes it at 2026-01-15T12:00:40Z: Quarantined, GCPolicy p.'],
  ]);
  expect(adviceWith({ verdict: 'Delete', reason: 'Orphaned', order: 1, mode: 'DryRun' })).toEqual([
    byHand,
    ['web/a', 'NoNode', 'by hand'],
  ]);
});
