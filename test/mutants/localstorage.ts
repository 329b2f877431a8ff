import { evictionSignals } from '../../src/api/local-storage.ts';
import { storageKeepReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const phase = 'src/api/pod-phase.ts';
const plan = 'src/agent/localstorage/plan.ts';
const limits = 'src/agent/localstorage/limits.ts';
const declared = 'src/api/declared-storage.ts';
const readings = 'src/agent/localstorage/readings.ts';
const history = 'src/agent/localstorage/history.ts';
const growth = 'src/gc/growth.ts';
const inventory = 'src/agent/localstorage/inventory.ts';
const critical = 'src/api/critical-pod.ts';
const mirror = 'src/kube/cache/owner-references.ts';

export const localStorageMutants: MutantGroup = {
  unit: 'localstorage',
  reasons: [...evictionSignals, ...storageKeepReasons],
  tests: ['test/unit/agent/localstorage/', 'test/unit/kube/cache/node-pods'],
  mutants: [
    [
      'emptydirfs.limit',
      readings,
      'usage.volumes.get(name), { limit, nodeUsage }',
      'undefined, { limit, nodeUsage }',
    ],
    ['emptydirfs.limit: checked first', readings, 'readings.find(', 'readings.findLast('],
    ['ephemeralpodfs.limit', readings, 'limit: limits.pod,', 'limit: undefined,'],
    [
      'ephemeralpodfs.limit: a declared 0 is one',
      limits,
      'total === undefined ? defaultLimit(defaults.podBytes)',
      '!total?.bytes ? defaultLimit(defaults.podBytes)',
    ],
    ['ephemeralpodfs.limit: init containers', declared, 'total = larger(total, starting);', ''],
    ['ephemeralpodfs.limit: sidecars add up', declared, 'total = plus(total, limit);', ''],
    ['ephemeralpodfs.limit: overhead', declared, 'added(total, overheadBytes)', 'total'],
    ['ephemeralcontainerfs.limit', readings, 'limits.containers.get(container.name)', 'undefined'],
    [
      'ephemeralcontainerfs.limit: layers where they count',
      readings,
      'dedicatedImageFs ? undefined : layer',
      'layer',
    ],
    ['ephemeralcontainerfs.limit: logs', readings, '[logs, dedicatedImageFs', '[undefined, dedicatedImageFs'],
    ['ephemeralcontainerfs.limit: 0 is none', limits, 'declared.bytes > 0 ? ', 'declared.bytes >= 0 ? '],
    [
      'UnderLimit: exactly the limit',
      'src/api/local-storage.ts',
      'usedBytes * 100 > limitBytes * percent',
      'usedBytes * 100 >= limitBytes * percent',
    ],
    [
      'UnderLimit: by the policy’s part',
      plan,
      'firstExcess(readings, rule.evictAtPercent)',
      'firstExcess(readings, 100)',
    ],
    [
      'NoLimit',
      plan,
      "if (!hasLimits(limits)) return because('NoLimit', { hasDefaults: hasDefaults(rule) });",
      '',
    ],
    ['NoLimit: a default of 0 is none', limits, 'bytes === undefined || bytes <= 0', 'bytes === undefined'],
    [
      'NoLimit: a default only where none is declared',
      limits,
      'if (declared === undefined) return byDefault;',
      'if (byDefault !== undefined) return byDefault; if (declared === undefined) return undefined;',
    ],
    ['CriticalPod', plan, 'if (isCritical(pod)) return kept(critical(pod, readings), readings);', ''],
    [
      'CriticalPod: without a measurement',
      plan,
      'isCritical(pod) ? critical(pod, []) : measured',
      'measured',
    ],
    ['CriticalPod: by priority', critical, 'priority >= criticalPriority', 'false'],
    ['CriticalPod: from there on', critical, 'priority >= criticalPriority', 'priority > criticalPriority'],
    ['CriticalPod: a mirror', critical, 'configHash !== undefined ||', ''],
    [
      'CriticalPod: a mirror that the Node owns',
      mirror,
      "typeof uid === 'string' && isOwnedByNode",
      "typeof uid === 'string'",
    ],
    ['CriticalPod: a mirror that its own Node owns', mirror, ' && controller.name === nodeName', ''],
    [
      'CriticalPod: a mirror by its own annotation',
      mirror,
      "'kubernetes.io/config.mirror'",
      "'kubernetes.io/config.hash'",
    ],
    ['KeepMarked', plan, "if (isOptedOut) return because('KeepMarked', { on: 'pod' });", ''],
    ['Finished: succeeded', phase, "phase === 'Succeeded' || ", ''],
    ['Finished: failed', phase, " || phase === 'Failed'", ''],
    [
      'Finished: at all',
      plan,
      'if (isFinished({ phase }))',
      'if (isFinished({ phase: String(phase === undefined) }))',
    ],
    [
      'Terminating',
      plan,
      "deletionAtMs === undefined ? undefined : because('Terminating', { deletionAtMs })",
      'undefined',
    ],
    ['UsageUnknown: too old', plan, 'Math.abs(now.getTime() - measuredAtMs) <= maxAgeMs', 'true'],
    [
      'UsageUnknown: in the future',
      plan,
      'Math.abs(now.getTime() - measuredAtMs)',
      '(now.getTime() - measuredAtMs)',
    ],
    ['UsageUnknown: in part', plan, '  isPartly\n    ?', '  isPartly === undefined\n    ?'],
    ['UsageUnknown: no number', readings, 'Number.isNaN(measured.bytes) || ', ''],
    ['UsageUnknown: as old as the read', readings, 'measured.atMs ?? nodeUsage.atMs', 'measured.atMs ?? 0'],
    ['order: the highest level', plan, 'warnAtPercent.findLast(', 'warnAtPercent.find('],
    [
      'order: the most excessive is requested first',
      readings,
      'left === right ? 0 : right - left',
      'left === right ? 0 : left - right',
    ],
    ['reach: requests only in Enforce', inventory, "policy.mode === 'Enforce' ? ", 'true ? '],
    ['memory: raised once', history, 'before.get(name)?.exceededSince.has(percent) !== true', 'true'],
    [
      'memory: a measurement that is missing once',
      history,
      'now.getTime() - trend.latest.atMs <= windowMs',
      'false',
    ],
    ['memory: deleted pods', history, 'bound.has(podUid) && ', ''],
    ['memory: growth only over time', growth, ' || latest.atMs - first.atMs < leastSpanMs', ''],
    [
      'memory: a shrinking size does not grow',
      growth,
      'slope * 60_000);\n  return perMinute > 0 ? perMinute : undefined',
      'slope * 60_000);\n  return perMinute',
    ],
  ],
};
