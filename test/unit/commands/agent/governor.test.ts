import { expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { Governor } from '../../../../src/commands/agent/governor.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const nodes = nodesRules();
const governed = (generation: number, mode: 'DryRun' | 'Enforce' = 'Enforce'): NodeGovernance => ({
  kind: 'governed',
  policy: policy({ generation, mode, nodes }),
  nodes,
});
const keep = (reason: 'NoPolicy' | 'KeepMarked' | 'NodeUnknown'): NodeGovernance => ({
  ...{ kind: 'keep', reason, policy: undefined },
});

test('logs the policy of the node once for each change', () => {
  const log = new RecordingLogger();
  const governor = new Governor('n1', log);
  const dryRun = governed(1, 'DryRun');
  const seen = [keep('NoPolicy'), keep('NoPolicy'), dryRun, dryRun, governed(2)];
  expect(seen.map((now) => governor.changed(now))).toEqual([true, false, true, false, true]);
  expect(log.lines.map(({ message, fields }) => ({ message, ...fields }))).toEqual([
    { message: 'nothing is collected on this node', node: 'n1', policy: undefined, reason: 'NoPolicy' },
    { message: 'policy governs this node', node: 'n1', policy: 'default', mode: 'DryRun' },
    { message: 'policy governs this node', node: 'n1', policy: 'default', mode: 'Enforce' },
  ]);
});

test('logs a new reason to keep as a change, and a missing node as a warning', () => {
  const log = new RecordingLogger();
  const governor = new Governor('n1', log);
  expect([keep('KeepMarked'), keep('NodeUnknown')].map((now) => governor.changed(now))).toEqual([true, true]);
  expect(log.lines.map(({ level }) => level)).toEqual(['info', 'warn']);
});
