import { nodeKeepReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const governance = 'src/api/policy/node-governance.ts';
const matching = 'src/api/policy/matching.ts';
const index = 'src/api/policy/selector-index.ts';

/** Which policy governs what: the same for every unit. */
export const governanceMutants: MutantGroup = {
  unit: 'governance',
  reasons: nodeKeepReasons,
  tests: [
    'test/unit/api/',
    'test/unit/agent/imagegc/plan',
    'test/unit/agent/imagegc/manager.test.ts',
    'test/unit/controllers/eviction/plan',
  ],
  mutants: [
    [
      'NoPolicy',
      governance,
      "if (policy === undefined) return { kind: 'keep', reason: 'NoPolicy', policy };",
      "if (policy === undefined) return { kind: 'keep', reason: 'RuleOff', policy };",
    ],
    [
      'InvalidPolicy: of a node',
      governance,
      "reason: 'InvalidPolicy', policy };",
      "reason: 'NoPolicy', policy };",
    ],
    [
      'InvalidPolicy: governs all nodes',
      matching,
      'if (isInvalid(policy)) return [{ policy, nodeSelector: everything }];',
      'if (isInvalid(policy)) return [];',
    ],
    [
      'InvalidPolicy: governs all pods',
      matching,
      'return [{ policy, excluded: new Set(), namespaceSelector: everything, podSelector: everything }];',
      'return [];',
    ],
    [
      'KeepMarked',
      governance,
      "if (hasKeepLabel(node)) return { kind: 'keep', reason: 'KeepMarked', policy };",
      '',
    ],
    ['fact: labels of a selector of the command line', matching, ', ...keysOf(shown)]', ']'],
    ['KeepMarked: not only true', matching, "value !== undefined && value !== 'false'", "value === 'true'"],
    ['KeepMarked: not false', matching, "value !== undefined && value !== 'false'", 'value !== undefined'],
    [
      'NodeUnknown: no node',
      governance,
      'governorOf === undefined || node === undefined',
      'governorOf === undefined',
    ],
    [
      'NodeUnknown: no policies',
      governance,
      'governorOf === undefined || node === undefined',
      'node === undefined',
    ],
    [
      'RuleOff',
      governance,
      "{ kind: 'keep', reason: 'RuleOff', policy }",
      "{ kind: 'keep', reason: 'NoPolicy', policy }",
    ],
    ['order: the highest priority', matching, 'first > second ? -1 : 1', 'first > second ? 1 : -1'],
    ['order: then the name', matching, 'a.name < b.name ? -1 : 1', 'a.name < b.name ? 1 : -1'],
    [
      'order: unreadable before all',
      matching,
      'a.priority ?? Infinity, b.priority ?? Infinity',
      'a.priority ?? -Infinity, b.priority ?? -Infinity',
    ],
    [
      'reach: excluded namespaces',
      matching,
      'for (const at of excluding.get(namespace) ?? []) positions.delete(at);',
      '',
    ],
    ['reach: selected namespaces', matching, 'byNamespace.select(labels)', 'every.select({})'],
    [
      'reach: an unknown namespace decides nothing',
      matching,
      "? claim.policy : 'unknown'",
      '? claim.policy : claim.policy',
    ],
    [
      'reach: selected pods',
      matching,
      'positions.firstIn(byPod.select(labels))',
      'positions.firstIn(positions)',
    ],
    ['reach: all requirements of a selector', index, '++member.met === member.wanted', '++member.met > 0'],
    [
      'reach: a selector that refuses a label',
      index,
      'for (const { at } of refusing) selecting.delete(at);',
      '',
    ],
    ['reach: each object anew', index, 'for (const member of wanting) member.met = 0;', ''],
    ['reach: a value that is given twice', index, 'const named = new Set(values);', 'const named = values;'],
    ['reach: more than 32 selectors', index, 'word * 8 + (bits', '(bits'],
    [
      'reach: selected nodes',
      matching,
      'nodeSelector: policy.nodes.nodeSelector',
      'nodeSelector: everything',
    ],
    ['reach: the same policy, generation', governance, 'a.generation === b.generation &&', ''],
    ['reach: the same policy, mode', governance, 'a.mode === b.mode &&', ''],
    [
      'reach: the same policy, spec',
      governance,
      'JSON.stringify(a.nodes) === JSON.stringify(b.nodes)',
      'true',
    ],
  ],
};
