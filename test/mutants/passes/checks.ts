import type { MutantGroup } from '../group.ts';

const checks = 'src/gc/checks.ts';
const execute = 'src/gc/execute.ts';
const imageChecks = 'src/agent/imagegc/checks.ts';
const jump = 'src/runtime/scheduling/jump.ts';
const live = 'src/gc/live.ts';
const podChecks = 'src/controllers/podgc/checks.ts';
const evictionChecks = 'src/controllers/eviction/checks.ts';

/** The live checks that several units share, and how the executor asks them. */
export const checkMutants: MutantGroup = {
  unit: 'checks',
  reasons: [],
  tests: [
    'test/unit/gc/',
    'test/unit/agent/imagegc/live',
    'test/unit/agent/imagegc/manager',
    'test/unit/agent/imagegc/failures',
    'test/unit/agent/containergc/live',
    'test/unit/agent/containergc/clock',
    'test/unit/agent/containergc/act',
    'test/unit/controllers/podgc/checks',
    'test/unit/controllers/podgc/controller',
    'test/unit/controllers/podgc/faults',
    'test/unit/controllers/eviction/outcomes',
    'test/unit/runtime/scheduling',
  ],
  mutants: [
    [
      'check: a clock that is behind',
      checks,
      'Math.abs(clockSkewMs) > tolerableSkewMs',
      'clockSkewMs > tolerableSkewMs',
    ],
    [
      'check: a clock that is ahead',
      checks,
      'Math.abs(clockSkewMs) > tolerableSkewMs',
      '-clockSkewMs > tolerableSkewMs',
    ],
    [
      'check: policies that cannot be read',
      checks,
      'if (response instanceof Error) return unreadable(response);',
      'if (response instanceof Error) return undefined;',
    ],
    [
      'check: a policy that no longer governs the node',
      checks,
      "governance.kind === 'governed' && isSamePolicy(governance.policy, policy)",
      "governance.kind !== 'governed' || isSamePolicy(governance.policy, policy)",
    ],
    ['check: a policy that changed, read live', checks, 'isSamePolicy(governance.policy, policy),', 'true,'],
    [
      'check: a node that cannot be confirmed is unknown',
      checks,
      "...{ kind: 'stop', unknown: true },",
      "...{ kind: 'stop' },",
    ],
    [
      'check: a policy that no longer governs, in the cache',
      checks,
      "now.kind === 'keep' || !isSamePolicy(now.policy, policy)",
      "now.kind !== 'keep' && !isSamePolicy(now.policy, policy)",
    ],
    [
      'check: a policy that changed, in the cache',
      checks,
      "now.kind === 'keep' || !isSamePolicy(now.policy, policy)",
      "now.kind === 'keep'",
    ],
    ['check: a clock that jumped in the pass', checks, 'jumpMs(began, momentOf(clock)) === 0 ?', 'true ?'],
    ['check: a clock that was set back', jump, 'Math.abs(ms) > tolerableMs', 'ms > tolerableMs'],
    ['check: a clock that was set forward', jump, 'Math.abs(ms) > tolerableMs', '-ms > tolerableMs'],
    ['check: images, the pods of the cache', imageChecks, '[...facts.pods, ', '['],
    [
      'check: images, pods that are unknown',
      imageChecks,
      'facts.pods && [...facts.pods, ',
      '[...(facts.pods ?? []), ',
    ],
    [
      'check: the error of a query stops the pass',
      checks,
      "({ kind: 'stop', why: errorLine(error), error })",
      "({ kind: 'stop', why: errorLine(error) })",
    ],
    [
      'check: images, the cached policies and the clock',
      imageChecks,
      '[unchanged, node.check, clocks, stillUnused]',
      '[node.check, clocks, stillUnused]',
    ],
    [
      'check: images, the confirmed node',
      imageChecks,
      '[unchanged, node.check, clocks, stillUnused]',
      '[unchanged, clocks, stillUnused]',
    ],
    [
      'check: images, the clocks',
      imageChecks,
      '[unchanged, node.check, clocks, stillUnused]',
      '[unchanged, node.check, stillUnused]',
    ],
    [
      'check: images, the use',
      imageChecks,
      '[unchanged, node.check, clocks, stillUnused]',
      '[unchanged, node.check, clocks]',
    ],
    [
      'check: images, the clocks for an age alone',
      imageChecks,
      "({ reason }) => reason === 'Age'",
      '() => true',
    ],
    ['check: images, one listing for each', imageChecks, 'maxDecisions: 1', 'maxDecisions: 2'],
    [
      'check: images, a listing that failed',
      imageChecks,
      'if (facts === undefined || facts instanceof Error) return stopFor(facts ?? unlisted);',
      'if (facts === undefined || facts instanceof Error) return undefined;',
    ],
    [
      'check: images, the pods that were read live',
      imageChecks,
      '[...facts.pods, ...(node.response(decision)?.pods ?? [])]',
      'facts.pods',
    ],
    ['check: images, one that is gone', imageChecks, "kept === 'Gone' ? { kind: 'gone' } : ", ''],
    [
      'check: images, one that is in use',
      imageChecks,
      'if (kept === undefined) return undefined;',
      'return undefined;',
    ],
    ['check: pods, the caches of namespaces', podChecks, '    !namespaces.synced ||\n', ''],
    [
      'check: pods, one that has the keep label',
      podChecks,
      "isOptedOut(deletion) ? { kind: 'keep', reason: 'KeepMarked' } : undefined",
      'undefined',
    ],
    [
      'check: pods, the node of each pod',
      podChecks,
      'key: ({ reason, target }) => (dependsOnNode(reason) ? target.node : undefined)',
      "key: ({ reason }) => (dependsOnNode(reason) ? 'node' : undefined)",
    ],
    [
      'check: pods, a node out of service',
      podChecks,
      "reason === 'Orphaned' || reason === 'OutOfService'",
      "reason === 'Orphaned'",
    ],
    [
      'check: evictions, each pod',
      evictionChecks,
      '    ...{ clock, key: ({ target }) => target.uid },\n',
      '    clock,\n',
    ],
    [
      'check: evictions, the right in each namespace',
      evictionChecks,
      '? undefined : target.namespace',
      "? undefined : 'all'",
    ],
    [
      'check: a stop between the response and the check',
      execute,
      'if (this.#mustStop()) return this.#stopped;\n        const objection',
      'const objection',
    ],
    [
      'check: a stop right before the action',
      execute,
      '    if (this.#mustStop()) return this.#stopped;\n    for',
      '    for',
    ],
    [
      'check: a query that fails',
      execute,
      '.then(() => undefined, failure);\n',
      '.then(() => undefined, () => undefined);\n',
    ],
    [
      'pace: the longest pause of all',
      execute,
      'Math.max(this.#pausedUntilMs, this.#execution.clock',
      'Math.max(0, this.#execution.clock',
    ],
    ['pace: a rate counts from the last start', execute, 'Math.max(now, this.#nextStartMs)', 'now'],
    [
      'pace: a rate gives no credit for a pause',
      execute,
      'Math.max(now, this.#nextStartMs)',
      'this.#nextStartMs',
    ],
    [
      'stop: a pause',
      execute,
      'while (!this.#signal.aborted && this.#pausedUntilMs',
      'while (this.#pausedUntilMs',
    ],
    ['count: an object that is gone', execute, "        this.#report({ kind: 'gone', decision });\n", ''],
    [
      'count: an object that is kept',
      execute,
      "        this.#report({ kind: 'kept', decision, reason: result.reason });\n",
      '',
    ],
    ['count: each outcome', execute, '    this.#outcomes.push(outcome);\n', ''],
    ['count: while the pass runs', execute, '    this.#execution.onOutcome(outcome);\n', ''],
    [
      'count: a stop is logged',
      execute,
      'if (stopped === undefined || stopped.error !== undefined) return;',
      'return;',
    ],
    ['count: unknown facts are a warning', execute, "stopped.unknown === true ? 'warn' : 'info'", "'info'"],
    ['count: an error is logged once', execute, ' || stopped.error !== undefined) return;', ') return;'],
    ['check: one decision is served twice by one response', live, ' || served.has(decision)', ''],
    ['check: a decision without a query', live, 'key === undefined || (known', '(known'],
    [
      'check: a pending query is shared',
      live,
      'const isUsable = before !== undefined && ',
      'const isUsable = before?.response !== undefined && ',
    ],
    ['check: waits for the response', live, '    await known.pending;\n', ''],
  ],
};
