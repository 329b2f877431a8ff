import { expect, test } from 'vitest';
import { reportData } from '../../../../src/commands/report/data.ts';
import { reportMarkdown } from '../../../../src/commands/report/markdown.ts';
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

const signal = (name: 'nodefs.available' | 'nodefs.inodesFree' | 'memory.available', available: number) => ({
  ...{ signal: name, available, capacity: 100, measuredAtMs: 1 },
});
const entry = (path: string, bytes: number) => ({ path, bytes, mtimeMs: 0 });
const named = (id: string, tags: string[], sizeBytes: number, digests: string[] = []) => ({
  ...{ id, tags, digests, sizeBytes, pinned: false, runtimeHandler: '' },
});
const images = [
  named('sha256:a', ['a:1'], 5),
  named('sha256:b', [], 9, ['b@sha256:1']),
  named('sha256:c', [], 1),
];

test('the figures are those of the file: by policy, reason, namespace, node and day, of disks, images and logs', async () => {
  const measured = part('node-1', {
    images,
    disk: { capacityBytes: 1, availableBytes: 1 },
    usage: {
      ...{ atMs: 1, dedicatedImageFs: false, splitContainerFs: false, pods: new Map(), impossible: [] },
      signals: [
        signal('nodefs.available', 50),
        signal('nodefs.inodesFree', 10),
        signal('memory.available', 0),
      ],
    },
    logs: {
      ...{ roots: { pods: '/logs', containers: '/links' }, directories: [], complete: true },
      entries: [entry('/logs/web_a_1/c/0.log', 3), entry('/logs/web_a_1/c/1.log', 4), entry('/links/x', 90)],
    },
  });
  const plain = part('node-2', {
    images: images.slice(0, 1),
    disk: { capacityBytes: 100, availableBytes: 20, inodes: 10, inodesFree: 9 },
  });
  const empty = part('node-3', { disk: { capacityBytes: 0, availableBytes: 0 } });
  const data = reportData(document, { ...noFacts, parts: [empty, measured, plain, part('node-4', {})] });
  expect(data.images.map(({ name, removedOn }) => [name, removedOn])).toContainEqual(['a:1', 1]);
  await expect(reportMarkdown(document, data)).toMatchFileSnapshot('./__snapshots__/figures.txt');
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
