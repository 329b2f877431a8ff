import type { MutantGroup } from '../group.ts';

const session = 'src/kube/exec/session.ts';
const exec = 'src/kube/exec/exec.ts';
const pod = 'src/commands/agent-pod/pod.ts';
const read = 'src/commands/agent-pod/read.ts';

/** A command in the pod of an agent: where it runs, and what its output means. */
export const kubeExecMutants: MutantGroup = {
  unit: 'kube/exec',
  reasons: [],
  tests: [
    'test/integration/adapters/exec.test.ts',
    'test/integration/commands/agent-pod/',
    'test/unit/commands/agent-pod/',
  ],
  mutants: [
    ['response: a command without an end', session, 'if (this.#status === undefined)', 'if (false)'],
    ['response: an exit code', session, "causes.indexOf('ExitCode')", '-1'],
    ['response: errors are not output', session, 'channel === channels.stdout', 'channel !== channels.error'],
    ['reach: the longest output', session, 'if (this.#outputBytes > this.#maxBytes)', 'if (false)'],
    ['deadline: a silent command', exec, 'silenceMs === 0 ? undefined', 'silenceMs > 0 ? undefined'],
    [
      'request: the words of the command',
      exec,
      "query.append('command', word)",
      "query.set('command', word)",
    ],
    ['fact: a pod that is being deleted', pod, ' || deletionTimestamp !== undefined', ''],
    ['fact: a container that does not run', pod, ' || !isRunning(status)', ''],
    ['request: the flags of the agent', pod, '    if (!nodeOptions.has(name)) return [];\n', ''],
    ['access: a missing right is requested once', read, 'if (denied !== undefined) return denied;', ''],
    ['response: a command that failed', read, 'if (exitCode !== 0)', 'if (exitCode > 9)'],
  ],
};
