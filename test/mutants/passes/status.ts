import type { MutantGroup } from '../group.ts';

const status = 'src/controllers/policystatus/controller.ts';

/** How the status of the policies is written. */
export const policyStatusMutants: MutantGroup = {
  unit: 'policystatus',
  reasons: [],
  tests: ['test/unit/controllers/policystatus/'],
  mutants: [
    ['lease: no status without it', status, '      if (!this.#deps.holdsLease()) return;\n', ''],
    [
      'check: the nodes are complete',
      status,
      'if (!nodes.synced || !nodeReports.synced) return undefined;',
      'if (!nodeReports.synced) return undefined;',
    ],
    [
      'check: the reports are complete',
      status,
      'if (!nodes.synced || !nodeReports.synced) return undefined;',
      'if (!nodes.synced) return undefined;',
    ],
    [
      'memory: of policies that are gone',
      status,
      'for (const uid of this.#memory.keys()) if (!uids.has(uid)) this.#memory.delete(uid);',
      '',
    ],
    [
      'count: deletions of all passes',
      status,
      '(known?.deletedSince ?? 0) + report.deleted',
      'report.deleted',
    ],
    ['count: deletions are not counted twice', status, 'now.deletedSince - deletedSince', 'now.deletedSince'],
    ['count: deletions of the pass during a write', status, 'now.deletedSince - deletedSince', '0'],
    [
      'count: a write that the cache does not show yet',
      status,
      'total(cached) > total(written) ? cached : written',
      'cached',
    ],
    [
      'count: a status that another leader has written',
      status,
      'total(cached) > total(written) ? cached : written',
      'written',
    ],
    [
      'count: the stored total after a start',
      status,
      'newer(memory.written, policies.storedStatus(policy.uid))',
      'memory.written',
    ],
    ['pace: no write sooner than needed', status, ' && waitedMs >= waitMs', ''],
    ['pace: the time of the last write', status, '      writtenAtMs: clock.monotonicMs(),\n', ''],
    [
      'response: a failed write is repeated',
      status,
      "'writing policy status failed');\n      return;",
      "'writing policy status failed');",
    ],
    ['stop: a write', status, '      signal.throwIfAborted();\n', ''],
    ['event: an invalid policy', status, 'this.#deps.recorder.record(invalidPolicy(policy));', ''],
    [
      'event: an invalid policy, once',
      status,
      'if (memory.invalidGeneration === policy.generation) return;',
      '',
    ],
    [
      'event: a policy that is invalid anew',
      status,
      'memory.invalidGeneration === policy.generation',
      'memory.invalidGeneration !== undefined',
    ],
  ],
};
