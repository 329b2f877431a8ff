import { expect, test } from 'vitest';
import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import { node, pod } from '../../../builders.ts';
import {
  evictionRequest,
  evictPolicy,
  mebibyte,
  pressurePolicy,
  pressureRequest,
  running,
} from '../../controllers/eviction/builders.ts';
import { report } from '../../controllers/policystatus/builders.ts';
import { decisionLines, keepMark, type Facts } from '../facts.ts';

const reportOf = (name: string, ...requests: readonly EvictionRequest[]): NodeReportFacts =>
  report(name, { policyUid: 'uid-default', policyGeneration: 1, requests });

const scene = (over: Partial<Facts> = {}): Facts => ({
  policies: [evictPolicy()],
  nodes: [node('node-1')],
  pods: ['a', 'b'].map((name) => pod(name, { ...running, nodeName: 'node-1' })),
  reports: [
    reportOf('node-1', evictionRequest('a'), evictionRequest('b', { observedBytes: 200 * mebibyte })),
  ],
  ...over,
});

test('evictions that agents of other nodes request are decided as by the controller, the most excessive first', () => {
  expect(decisionLines(scene(), 'localstorage')).toEqual([
    '1 b Evict emptydirfs.limit',
    '2 a Evict emptydirfs.limit',
  ]);
});

test('evictions for node pressure are decided as by the controller, one at a time', () => {
  const pressed = scene({
    policies: [pressurePolicy()],
    reports: [report('node-1', { requests: [pressureRequest('b'), pressureRequest('a')] })],
  });
  expect(decisionLines(pressed, 'nodepressure')).toEqual([
    '1 b Evict nodefs.available',
    '- a Keep PacingLimit',
  ]);
  const kept = { ...pressed, nodes: [node('node-1', { labels: keepMark })] };
  expect(decisionLines(kept, 'nodepressure')).toEqual(['- b Keep KeepMarked', '- a Keep KeepMarked']);
});
