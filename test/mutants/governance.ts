import { nodeKeepReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const governance = 'src/api/node-governance.ts';
const matching = 'src/api/matching.ts';

/** Which policy governs what: the same for every unit. */
export const governanceMutants: MutantGroup = {
  unit: 'governance',
  reasons: nodeKeepReasons,
  tests: [
    'test/unit/api/',
    'test/unit/agent/imagegc.plan',
    'test/unit/agent/imagegc.manager.test.ts',
    'test/unit/controllers/eviction.plan',
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
      'isInvalid(policy) || (policy.nodes',
      '!isInvalid(policy) && (policy.nodes',
    ],
    [
      'InvalidPolicy: governs all pods',
      matching,
      'return [{ policy, excluded: new Set(), matchesNamespace: undefined, matchesPod: undefined }];',
      'return [];',
    ],
    [
      'KeepMarked',
      governance,
      "if (isKeepMarked(node)) return { kind: 'keep', reason: 'KeepMarked', policy };",
      '',
    ],
    ['KeepMarked: only true', matching, "=== 'true'", '!== undefined'],
    [
      'NodeUnknown: no node',
      governance,
      'ranked === undefined || node === undefined',
      'ranked === undefined',
    ],
    [
      'NodeUnknown: no policies',
      governance,
      'ranked === undefined || node === undefined',
      'node === undefined',
    ],
    [
      'RuleOff',
      'src/agent/imagegc/governed.ts',
      "if (nodes.imageGC === undefined) return { kind: 'keep', reason: 'RuleOff' };",
      "if (nodes.imageGC === undefined) return { kind: 'keep', reason: 'NoPolicy' };",
    ],
    ['order: the highest priority', matching, 'first > second ? -1 : 1', 'first > second ? 1 : -1'],
    ['order: then the name', matching, 'a.name < b.name ? -1 : 1', 'a.name < b.name ? 1 : -1'],
    [
      'order: unreadable before all',
      matching,
      'a.priority ?? Infinity, b.priority ?? Infinity',
      'a.priority ?? -Infinity, b.priority ?? -Infinity',
    ],
    ['reach: excluded namespaces', matching, 'if (excluded.has(namespace)) continue;', ''],
    ['reach: selected namespaces', matching, 'matchesNamespace?.(labels) === false', 'false'],
    ['reach: an unknown namespace decides nothing', matching, "undecidable ? 'unknown' : policy", 'policy'],
    ['reach: selected pods', matching, 'matchesPod === undefined || matchesPod(labels)', 'true'],
    [
      'reach: selected nodes',
      matching,
      'policy.nodes !== undefined && matchesSelector(policy.nodes.nodeSelector, labels)',
      'policy.nodes !== undefined',
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
