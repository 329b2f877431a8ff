import { expect, test } from 'vitest';
import type { PodDeleteReason } from '../../../../src/api/reasons.ts';
import {
  disruptionTarget,
  recheckNode,
  throttledForMs,
  type LiveNode,
} from '../../../../src/controllers/podgc/recheck.ts';
import { node, now } from '../../../builders.ts';
import { outOfServiceNode } from './rows.ts';

const absent: LiveNode = { node: undefined };
const back: LiveNode = { node: node('node-1') };
const marked: LiveNode = { node: { ...outOfServiceNode, labels: { 'gc.dustpan.dev/keep': 'true' } } };

test.each<{ readonly reason: PodDeleteReason; readonly live: LiveNode; readonly kept: string | undefined }>([
  { reason: 'Orphaned', live: absent, kept: undefined },
  { reason: 'Orphaned', live: back, kept: 'NodeExists' },
  { reason: 'Orphaned', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: { node: outOfServiceNode }, kept: undefined },
  { reason: 'OutOfService', live: back, kept: 'NodeRecovered' },
  { reason: 'OutOfService', live: marked, kept: 'KeepMarked' },
  { reason: 'OutOfService', live: absent, kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'Terminated', live: back, kept: undefined },
  { reason: 'Unscheduled', live: 'unreadable', kept: undefined },
])('$reason, live $live: kept by $kept', ({ reason, live, kept }) => {
  expect(recheckNode(reason, live)).toBe(kept);
});

const answer = (over: object): Error => Object.assign(new Error('refused'), over);

test.each([
  { name: 'as long as the server asks', err: answer({ status: 429, retryAfterMs: 7_000 }), expected: 7_000 },
  { name: 'a second when it does not say', err: answer({ status: 429 }), expected: 1_000 },
  { name: 'not for another answer', err: answer({ status: 500, retryAfterMs: 7_000 }), expected: undefined },
  { name: 'not for what is no answer', err: new Error('refused'), expected: undefined },
  { name: 'not for what is no error', err: 'x', expected: undefined },
])('waits $name', ({ err, expected }) => {
  expect(throttledForMs(err)).toBe(expected);
});

test('only an orphan is given the condition that upstream gives it', () => {
  expect(disruptionTarget('Orphaned', now)).toMatchObject({ reason: 'DeletionByPodGC', at: now });
  expect(disruptionTarget('OutOfService', now)).toBeUndefined();
});
