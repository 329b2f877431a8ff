import { expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { Governor } from '../../../../src/commands/agent/governor.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

test('a change of the policy, of its generation or of the reason to keep is news once, and a log line', () => {
  const nodes = nodesRules();
  const governed = (generation: number): NodeGovernance => {
    return { kind: 'governed', policy: policy({ generation, nodes }), nodes };
  };
  const keep = (reason: 'NoPolicy' | 'NodeUnknown'): NodeGovernance => {
    return { kind: 'keep', reason, policy: undefined };
  };
  const log = new RecordingLogger();
  const governor = new Governor('n1', log);
  const seen = [
    keep('NoPolicy'),
    keep('NoPolicy'),
    governed(1),
    governed(1),
    governed(2),
    keep('NodeUnknown'),
  ];
  expect(seen.map((now) => governor.changed(now))).toEqual([true, false, true, false, true, true]);
  expect(log.lines.map(({ level }) => level)).toEqual(['info', 'info', 'info', 'warn']);
});
