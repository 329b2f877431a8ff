import type { MutantGroup } from '../group.ts';

const storage = 'src/agent/localstorage/manager.ts';
const orphans = 'src/agent/report/orphans.ts';
const plan = 'src/agent/report/plan.ts';
const report = 'src/agent/report/manager.ts';

/** How a pass of the local storage reads the usage of the pods and reports. */
export const localStoragePassMutants: MutantGroup = {
  unit: 'localstorage/pass',
  reasons: [],
  tests: ['manager', 'warnings', 'metrics', 'events'].map(
    (name) => `test/unit/agent/localstorage/${name}.test.ts`,
  ),
  mutants: [
    [
      'check: the usage is not too old',
      storage,
      '<= usageLastsMs ? this.#usage : undefined',
      '<= Infinity ? this.#usage : undefined',
    ],
    [
      'check: the usage is not from the future',
      storage,
      'Math.abs(now.getTime() - this.#usage.atMs)',
      '(now.getTime() - this.#usage.atMs)',
    ],
    ['check: the usage lasts a while', storage, '<= usageLastsMs ? this.#usage', '<= 0 ? this.#usage'],
    [
      'order: the pods are read after the usage',
      storage,
      '    const pods = this.#deps.pods();\n    if (pods === undefined) this',
      '    if (pods === undefined) this',
    ],
    [
      'check: pods that are not known',
      storage,
      "if (pods === undefined) this.#reportNothing('the pods of the node are not known');\n    else ",
      '',
    ],
    [
      'check: no usage without the pods',
      storage,
      'this.#deps.pods() === undefined ? undefined : await',
      'await',
    ],
    ['memory: without the rule', storage, '      this.#history = new Map();\n', ''],
    ['memory: the usage without the rule', storage, '      this.#usage = undefined;\n', ''],
    ['memory: requests without the rule', storage, '      this.#requested = new Set();\n', ''],
    [
      'memory: a node that is not known forgets nothing',
      storage,
      "    if (state === 'off') {\n      this.#history",
      '    if (true) {\n      this.#history',
    ],
    ['memory: warnings', storage, '    this.#history = history;\n', ''],
    [
      'count: no rule is reported once',
      storage,
      "if (this.#state === 'off' || this.#state === state) return;",
      '',
    ],
    [
      'count: no rule is reported',
      storage,
      '    this.#state = state;\n    this.#reportNothing(unknownBecause);',
      '    this.#state = state;',
    ],
    ['count: the metrics without the rule', storage, '    clearPlan(this.#deps.metrics);\n', ''],
    [
      'count: the metrics of pods without the rule',
      storage,
      '    this.#deps.podMetrics?.used.reset();\n',
      '',
    ],
    ['stop: the connection without the rule', storage, "if (state === 'off') this.#deps.source.close();", ''],
    ['count: a failed read', storage, '      this.#deps.metrics.errors.inc();\n', ''],
    ['count: a failed read fails the pass', storage, '    if (error !== undefined) throw error;\n', ''],
    ['stop: a read', storage, '      signal.throwIfAborted();\n', ''],
    ['event: a warning', storage, '      recorder.record(event);\n', ''],
    ['event: a warning about a critical pod', storage, ' && !critical.has(pod.uid)', ''],
    ['event: a warning of a dry run', storage, "policy.mode === 'Enforce' && !critical", '!critical'],
    ['count: a request, once', storage, 'if (before.has(keyOf(eviction))) continue;', ''],
    [
      'count: a request after a change of mode',
      storage,
      '${target.uid}/${reason}/${policy.mode}',
      '${target.uid}/${reason}',
    ],
    [
      'count: a request',
      storage,
      'metrics.requested.inc({ eviction_signal: reason, mode: policy.mode });',
      '',
    ],
    [
      'count: a pass that failed',
      storage,
      "if (error !== undefined) return { result: 'Failed', message: errorLine(error) };",
      '',
    ],
    [
      'count: usage that is not known',
      storage,
      'usage === undefined ? undefined : inventoryOf(decided)',
      'inventoryOf(decided)',
    ],
  ],
};

/** How the report of a node is kept current. */
export const reportPassMutants: MutantGroup = {
  unit: 'report',
  reasons: [],
  tests: ['test/unit/agent/report/'],
  mutants: [
    [
      'count: the size of the removable images',
      plan,
      'size: shortQuantityText(bytes(',
      'size: String(bytes(',
    ],
    ['reach: no report without the node', report, '    if (node === undefined) return;\n', ''],
    [
      'memory: the report of another node is read',
      report,
      'this.#written?.nodeUid !== node.uid',
      'this.#written === undefined',
    ],
    ['memory: what was written', report, '      this.#written = { nodeUid: node.uid, status };\n', ''],
    [
      'pace: only what is worth a write',
      report,
      'if (isWorthWriting(previous, next, { now, jitter: this.#jitter, isLast }))',
      'if (true)',
    ],
    [
      'pace: removals before a stop',
      report,
      'jitter: this.#jitter, isLast }',
      'jitter: this.#jitter, isLast: false }',
    ],
    ['memory: what the agent before removed', plan, '[...own, ...reported.filter(', '[...own, ...[].filter('],
    ['memory: each removal once', plan, '(one) => !known.has(keyOf(one))', '() => true'],
    ['pace: writes of nodes differ', report, '      this.#jitter = random();\n', ''],
    ['pace: the first writes of nodes differ', report, 'this.#jitter = deps.random();', 'this.#jitter = 0;'],
    ['count: removals of all passes', report, '(before?.removedTotal ?? 0) + last.removed', 'last.removed'],
    [
      'count: freed bytes of all passes',
      report,
      '(before?.freedBytesTotal ?? 0) + last.freedBytes',
      'last.freedBytes',
    ],
    ['response: a kind that is not installed', report, "if (result === 'no-kind') return;", ''],
    [
      'count: a kind that is not installed is logged once',
      report,
      'isMissing && !this.#kindIsMissing',
      'isMissing',
    ],
    ['count: a failed write', report, "if (!signal.aborted) metrics.writes.inc({ result: 'error' });", ''],
    [
      'response: a failed write fails the pass',
      report,
      "metrics.writes.inc({ result: 'error' });\n      throw err;",
      "metrics.writes.inc({ result: 'error' });",
    ],
    [
      'response: an image disk that is not known',
      report,
      "troubles.push({ reason: 'ImageDiskUnknown', message: errorLine(err) });",
      '',
    ],
    [
      'response: a node disk that is not known',
      report,
      'nodeDisk(signal).catch(() => undefined)',
      'nodeDisk(signal)',
    ],
    [
      'response: a runtime that is not available',
      report,
      "trouble === undefined ? [] : [{ reason: 'RuntimeUnavailable', message: trouble }]",
      '[]',
    ],
    [
      'pace: disks are read seldom',
      report,
      'if (this.#disks !== undefined && atMs - this.#disks.atMs < disksEveryMs) return this.#disks;',
      '',
    ],
    ['pace: disks are read again', report, 'atMs - this.#disks.atMs < disksEveryMs', 'true'],
    ['pace: snapshots are searched seldom', report, 'this.#snapshots === undefined || atMs', 'true || atMs'],
    [
      'pace: snapshots are searched again',
      report,
      'atMs - this.#snapshots.atMs >= snapshotsEveryMs',
      'false',
    ],
    [
      'memory: the last search that worked',
      report,
      'containers()?.orphans ?? this.#orphans',
      'containers()?.orphans',
    ],
    [
      'response: a search that failed costs no report',
      report,
      "'searching orphaned snapshots failed');\n        return undefined;",
      "'searching orphaned snapshots failed');\n        throw err;",
    ],
    ['event: orphaned resources', report, 'if (isDue && ', 'if ('],
    ['event: more orphaned resources', report, 'this.#announced = announced;', ''],
    ['event: fewer are no event', orphans, 'value > (announced[kind] ?? 0)', 'value !== announced[kind]'],
    ['event: only the first snapshots', orphans, 'Math.min(snapshots.count, 1)', 'snapshots.count'],
    ['stop: a search', report, '        signal.throwIfAborted();\n', ''],
    ['stop: the disks', report, '    signal.throwIfAborted();\n    this.#disks', '    this.#disks'],
    [
      'event: a pod that the report does not request yet',
      report,
      'hasNewRequests(this.#written?.status, ',
      'hasNewRequests(undefined, ',
    ],
  ],
};
