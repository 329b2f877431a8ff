import { evictionKeepReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const plan = 'src/controllers/eviction/plan.ts';
const recheck = 'src/controllers/eviction/recheck.ts';
const memory = 'src/controllers/eviction/memory.ts';
const executor = 'src/controllers/eviction/executor.ts';
const storage = 'src/api/local-storage.ts';

export const evictionMutants: MutantGroup = {
  unit: 'eviction',
  reasons: evictionKeepReasons,
  tests: [
    'test/unit/controllers/eviction.plan',
    'test/unit/controllers/eviction.memory',
    'test/unit/controllers/eviction.outcomes',
    'test/unit/controllers/eviction.controller',
  ],
  mutants: [
    [
      'PodGone',
      plan,
      "if (pod === undefined) return 'PodGone';",
      "if (pod === undefined) return 'PodMoved';",
    ],
    [
      'PodMoved: to another node',
      plan,
      '!isAsked(pod, request) || pod.nodeName !== node',
      '!isAsked(pod, request)',
    ],
    ['PodMoved: to another name', plan, '!isAsked(pod, request) || ', ''],
    ['PodMoved: another UID, read live', recheck, 'pod.uid !== request.pod.uid || ', ''],
    ['PodMoved: another node, read live', recheck, ' || pod.nodeName !== node', ''],
    ['RequestStale: too old', plan, 'ageMs <= staleAfterMs && ', ''],
    ['RequestStale: at 6 min it is not', plan, 'ageMs <= staleAfterMs', 'ageMs < staleAfterMs'],
    ['RequestStale: from the future', plan, ' && ageMs >= -futureMs', ''],
    ['PolicyChanged: DryRun', plan, "policy.mode !== 'Enforce' || ", ''],
    ['PolicyChanged: another policy', plan, 'report.policyUid !== policy.uid || ', ''],
    ['PolicyChanged: another generation', plan, ' || report.policyGeneration !== policy.generation', ''],
    [
      'PolicyChanged: within the limit by now',
      plan,
      "exceeds(observedBytes, limitBytes, evictAtPercent) ? undefined : 'PolicyChanged'",
      'undefined',
    ],
    [
      'PolicyChanged: exactly the limit is within',
      storage,
      'usedBytes * 100 > limitBytes * percent',
      'usedBytes * 100 >= limitBytes * percent',
    ],
    ['KeepMarked: the pod', plan, "if (isKeepMarked(pod)) return 'KeepMarked';", ''],
    ['KeepMarked: its namespace', plan, "isKeepMarked(namespace) ? 'KeepMarked' : undefined", 'undefined'],
    ['KeepMarked: its node', plan, "|| reason === 'KeepMarked' ? reason", '? reason'],
    ['KeepMarked: the pod, read live', recheck, "isKeepMarked(pod) ? 'KeepMarked' : undefined", 'undefined'],
    [
      'CriticalPod: as remembered',
      plan,
      "memory.critical.has(pod.uid) ? 'CriticalPod' : undefined",
      'undefined',
    ],
    ['CriticalPod: read live', recheck, "if (isCritical(pod)) return 'CriticalPod';", ''],
    ['CriticalPod: by priority', 'src/api/critical-pod.ts', 'priority >= criticalPriority', 'false'],
    ['Finished: succeeded', plan, "pod.phase === 'Succeeded' || ", ''],
    ['Finished: failed', plan, " || pod.phase === 'Failed'", ''],
    [
      'Finished: read live',
      recheck,
      "if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return 'Finished';",
      '',
    ],
    ['Terminating: is going', plan, 'pod.deletionAtMs !== undefined || ', ''],
    ['Terminating: was just evicted', plan, ' || memory.evicted.has(pod.uid)', ''],
    ['Terminating: read live', recheck, "if (pod.isTerminating) return 'Terminating';", ''],
    [
      'BudgetBlocked: until its pause is over',
      plan,
      'monotonicMs < deferral.untilMs',
      'monotonicMs <= deferral.untilMs',
    ],
    ['BudgetBlocked: longer pauses', memory, 'firstPauseMs * 2 ** (tries - 1)', 'firstPauseMs'],
    [
      'BudgetBlocked: as long as the server asks',
      memory,
      'Math.max(pauseMs, result.retryAfterMs ?? 0)',
      'pauseMs',
    ],
    [
      'BudgetBlocked: not for ever',
      memory,
      'Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1))',
      'firstPauseMs * 2 ** (tries - 1)',
    ],
    [
      'EvictionForbidden: also where budgets are ignored',
      executor,
      'if (rule.respectPodDisruptionBudgets) return true;',
      'return true;',
    ],
    [
      'EvictionForbidden: is no failure without a name',
      executor,
      "reason: 'EvictionForbidden' }",
      "reason: 'EvictionFailed' }",
    ],
    [
      'EvictionFailed',
      plan,
      'monotonicMs < deferral.untilMs ? deferral.reason',
      "monotonicMs < deferral.untilMs && deferral.reason === 'BudgetBlocked' ? deferral.reason",
    ],
    ['NamespaceUnknown', plan, "if (namespace === undefined) return 'NamespaceUnknown';", ''],
    ['NodeUnknown', plan, "reason === 'NodeUnknown' || ", ''],
    ['order: the most excessive first', plan, 'left > right ? -1 : 1', 'left > right ? 1 : -1'],
    [
      'order: then by UID',
      plan,
      'a.request.pod.uid < b.request.pod.uid ? -1 : 1',
      'a.request.pod.uid < b.request.pod.uid ? 1 : -1',
    ],
    [
      'order: of one pod the freshest',
      plan,
      'b.request.observedAtMs - a.request.observedAtMs',
      'a.request.observedAtMs - b.request.observedAtMs',
    ],
    [
      'order: one decision a pod',
      plan,
      'if (!byPod.has(key)) byPod.set(key, one);',
      'byPod.set(`${key} ${byPod.size}`, one);',
    ],
    [
      'order: both nodes that ask are judged',
      plan,
      '`${one.report.name} ${one.request.pod.uid}`',
      'one.request.pod.uid',
    ],
    ['memory: of what nobody asks for', memory, 'asked.has(uid) && ', ''],
    ['memory: of what is gone', memory, ' && pods.has(uid)', ''],
    ['memory: of one reason', memory, 'known?.reason === reason ? known.tries : 0', 'known?.tries ?? 0'],
  ],
};
