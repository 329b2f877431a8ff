import { diskSignals } from '../../src/api/node-pressure.ts';
import { pressureKeepReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const plan = 'src/agent/nodepressure/plan.ts';
const rank = 'src/agent/nodepressure/rank.ts';
const signals = 'src/agent/nodepressure/signals.ts';
const inventory = 'src/agent/nodepressure/inventory.ts';
const manager = 'src/agent/nodepressure/manager.ts';
const phase = 'src/api/pod-phase.ts';
const growth = 'src/gc/growth.ts';
const amounts = 'src/api/node-pressure.ts';
const summary = 'src/node/kubelet/signals.ts';
const configz = 'src/node/kubelet/thresholds.ts';

export const nodePressureMutants: MutantGroup = {
  unit: 'nodepressure',
  reasons: [...diskSignals, ...pressureKeepReasons],
  tests: ['test/unit/agent/nodepressure/', 'test/unit/node/kubelet-signals', 'test/unit/api/node-pressure'],
  mutants: [
    ['nodefs.available: crossed strictly below', signals, 'available >= (since', 'available > (since'],
    [
      'nodefs.available: until the minimum reclaim',
      signals,
      '? threshold : relief))',
      '? threshold : threshold))',
    ],
    [
      'nodefs.inodesFree: in inodes',
      rank,
      '(isInodes(on.signal) ? one?.inodes : one?.bytes)',
      '(one?.bytes)',
    ],
    [
      'imagefs.available: by layers alone',
      rank,
      "return isNodeFs ? ['logs', 'volumes'] : ['layers'];",
      "return ['layers', 'logs', 'volumes'];",
    ],
    [
      'imagefs.inodesFree: images of a file system of their own',
      plan,
      'images: !isDedicated || isImageFs',
      'images: true',
    ],
    ['nodefs.available: memory is none', signals, 'isCrossed ? limitsOf', 'isCrossed || true ? limitsOf'],
    ['nodefs.available: only disks are freed', plan, ' && isDiskSignal(state.reading.signal);', ';'],
    [
      'NoPressure',
      plan,
      "if (crossed === undefined) return because('NoPressure', undefined);",
      "if (crossed === undefined) return because('EvictionOff', { shortage: { signal: 'nodefs.available', available: 0, capacity: 0, threshold: { value: 0, text: '' } } });",
    ],
    ['ThresholdBeyondDisk', plan, '    canBeMet(crossed) &&\n', ''],
    ['ThresholdBeyondDisk: nothing is removed for it', plan, 'crossed.filter(canBeMet).map(', 'crossed.map('],
    ['Reclaiming: after a jump of the clock', manager, '    this.#forgetAfterJump();\n', ''],
    ['EvictionOff', plan, '    rule.evictPods &&\n', ''],
    ['Reclaiming: the grace period', plan, 'now.getTime() - crossedSinceMs >= rule.gracePeriodMs', 'true'],
    ['Reclaiming: a removal after the crossing', plan, 'relievedMs >= crossedSinceMs &&', ''],
    ['Reclaiming: a measurement after the removal', plan, ' &&\n    reading.measuredAtMs > relievedMs', ''],
    ['PodEnding', plan, 'pods.some(isEnding) ?', 'false ?'],
    ['PodEnding: not for long', plan, 'leftMs <= endingMs && ', ''],
    ['PodEnding: not after its time', plan, ' && leftMs >= -endedMs', ''],
    ['RankedLater', plan, 'if (i < requestedPods)', 'if (i <= requestedPods)'],
    ['CriticalPod', plan, 'return isCritical(pod)\n', 'return pod.name === undefined\n'],
    ['KeepMarked', plan, "if (isOptedOut) return because('KeepMarked', { on: 'pod' });", ''],
    ['Finished', plan, "if (isFinished({ phase })) return because('Finished', { phase });", ''],
    ['Finished: failed', phase, " || phase === 'Failed'", ''],
    [
      'Terminating',
      plan,
      "if (deletionAtMs !== undefined) return because('Terminating', { deletionAtMs });",
      '',
    ],
    [
      'UsageUnknown',
      plan,
      "kept.push(keep(pod, because('UsageUnknown', { isUsageKnown: usage !== undefined }), policy));",
      'users.push({ pod, share: { used: 1e15, request: 0, priority: 0 } });',
    ],
    ['order: over the request first', rank, 'Number(right > 0) - Number(left > 0) || ', ''],
    ['order: the lower priority', rank, 'a.priority - b.priority || ', ''],
    ['order: the larger excess', rank, 'right - left;', 'left - right;'],
    [
      'order: the signal that is crossed longest',
      plan,
      'a.crossedSinceMs - b.crossedSinceMs',
      'b.crossedSinceMs - a.crossedSinceMs',
    ],
    ['order: volumes in memory use no disk', rank, '({ isMemory }) => !isMemory', '() => true'],
    ['reach: requests only in Enforce', inventory, "mode === 'Enforce' ? ", 'true ? '],
    ['reach: no removal in DryRun', manager, "if (policy.mode === 'DryRun') return undefined;", ''],
    ['pace: a removal a minute', manager, 'Math.abs(nowMs - triedMs) >= relieveEveryMs', 'true'],
    ['event: one for a crossing', manager, 'if (before.has(key) || ', 'if ('],
    [
      'event: none for a forecast that is off',
      signals,
      'if (forecastMs === undefined) return false;',
      'if (forecastMs === undefined) return true;',
    ],
    [
      'memory: measurements that are too old',
      signals,
      'Math.abs(nowMs - found.measuredAtMs) > given.staleAfterMs',
      'false',
    ],
    [
      'memory: measurements from the future',
      signals,
      'Math.abs(nowMs - found.measuredAtMs)',
      '(nowMs - found.measuredAtMs)',
    ],
    [
      'memory: another capacity is another disk',
      signals,
      'known?.capacity === capacity ? known : undefined',
      'known',
    ],
    [
      'memory: the transition period',
      signals,
      'now.getTime() - lastCrossedMs < rule.transitionPeriodMs',
      'false',
    ],
    ['memory: a burst is no growth', growth, '.slice(1, -1);', ';'],
    [
      'memory: growth needs some steps',
      growth,
      'if (steps.length < leastSteps) return undefined;',
      'if (steps.length < 1) return undefined;',
    ],
    ['fact: 0 % is no threshold', amounts, 'percent > 0 && ', ''],
    [
      'fact: a quantity of 0 is no threshold',
      amounts,
      'value !== undefined && value > 0',
      'value !== undefined',
    ],
    ['fact: a file system without inodes', summary, ' || capacity === 0', ''],
    [
      'fact: the time of the measurement',
      summary,
      'const measuredAtMs = timeOf(time) ?? nowMs;\n  return [',
      'const measuredAtMs = nowMs;\n  return [',
    ],
    ['fact: memory that is used', summary, 'capacity: available + used', 'capacity: available'],
    [
      'fact: containers with a file system of their own',
      summary,
      'containers !== images',
      'containers === images',
    ],
    ['fact: a soft threshold', configz, 'sizeOf(soft) > sizeOf(hard)', 'false'],
  ],
};
