import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CriSandbox } from '../../../sandbox/cri/server.ts';
import type { SandboxExec } from '../../../sandbox/api/exec.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { dustpan, inputOfEachTest, planned, policy } from '../plan/fixture.ts';

const input = inputOfEachTest();
let api: Sandbox;
let cri: CriSandbox;
/** Replaces the program in the agent's pod. */
let program: SandboxExec | undefined;
const commands: (readonly string[])[] = [];

const reader = {
  ...{ name: 'jane', token: 'j' },
  rules: [
    { apiGroups: ['', 'batch', 'apps'], resources: ['pods', 'nodes', 'namespaces'], verbs: ['list'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies', 'nodegcreports'], verbs: ['list'] },
  ],
};

/** Runs the command of the pod in this process, as the agent's service account. */
const runHere: SandboxExec = async (call) => {
  const { command } = call;
  commands.push(command);
  if (program !== undefined) return program(call);
  const words = command.slice(command.indexOf('/app/dist/main.js') + 1);
  const { code, stdout, stderr } = await dustpan([...words, `--kubeconfig=${api.kubeconfigFile}`]);
  return { exitCode: code, stdout, stderr };
};

const labels = { 'app.kubernetes.io/part-of': 'dustpan', 'app.kubernetes.io/component': 'agent' };

/** A pod of the DaemonSet of dustpan's chart, or of another one in another namespace; the runtime has its sandbox. */
function applyAgent(node: string, args: readonly string[], running = true, namespace = 'dustpan'): void {
  const state = running ? { running: {} } : { waiting: {} };
  const program = ['/nodejs/bin/node', '--no-sparkplug', '/app/dist/main.js'];
  const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: `uid-${namespace}` };
  const ownerReferences = [{ ...daemonSet, controller: true }];
  const { sandbox } = cri.runtime.runPod({ name: `agent-${node}`, namespace, containers: [] });
  api.store.apply({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: `agent-${node}`, namespace, uid: sandbox.uid, labels, ownerReferences },
    spec: {
      serviceAccountName: 'dustpan-agent',
      nodeName: node,
      containers: [
        { name: 'sidecar', image: 's' },
        { name: 'agent', image: 'i', command: program, args: ['agent', '--image-gc-period=5m', ...args] },
      ],
    },
    status: { phase: 'Running', containerStatuses: [{ name: 'agent', state }] },
  });
}

function applyNode(name: string, status: object): void {
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status });
}

beforeEach(async () => {
  program = undefined;
  commands.length = 0;
  api = await startSandbox({ exec: runHere, users: [reader] });
  for (const name of ['node-1', 'node-2', 'node-3']) applyNode(name, {});
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dustpan' } });
  cri = await input.startCri();
  cri.runtime.addImage({ tags: ['registry.example.com/unused:v1'] });
  applyAgent('node-1', input.nodeFlags);
  api.store.apply(policy('mine', { nodes: { imageGC: { minimumAge: '1s' }, containerGC: {} } }));
  const removable = { count: 4, bytes: 5000 };
  api.store.apply({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
    status: { reportTime: '2026-01-15T12:00:00Z', images: { removable }, containers: { removable: 3 } },
  });
});
afterEach(async () => {
  cri.stop();
  await api.stop();
});

const as = (user: string): string => `--kubeconfig=${api.kubeconfigOf(user)}`;
const asAdmin = (): string => `--kubeconfig=${api.kubeconfigFile}`;
const at = '--now=2031-01-15T12:00:00Z';

describe('through the pod of an agent', () => {
  test('the plan of a node is the one that is made on the node, with the flags of its agent', async () => {
    const through = await planned([asAdmin(), '--node=node-1', '--kept', at]);
    const there = await planned([asAdmin(), ...input.nodeFlags, '--kept', at]);
    expect(through.decisions.filter(({ unit }) => unit === 'imagegc')).toHaveLength(1);
    expect(through.decisions).toEqual(there.decisions);
    expect(through.totals).toEqual(there.totals);
    expect(commands).toEqual([
      [
        ...['/nodejs/bin/node', '--no-sparkplug', '/app/dist/main.js', 'snapshot', '-', '--only-node'],
        ...input.nodeFlags,
      ],
    ]);
  });

  test('an image of the given or the only node is explained', async () => {
    const why = (...option: readonly string[]) =>
      dustpan(['why', 'image', 'registry.example.com/unused:v1', ...option, asAdmin(), at]);
    const { code, stdout, stderr } = await why('--node=node-1');
    for (const name of ['node-2', 'node-3']) api.store.delete('Node', name);
    expect(await why()).toEqual({ code, stdout, stderr });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Image registry.example.com\/unused:v1 \(.*\) on node-1 is kept by\s+imagegc: /);
  });

  test('--nodes reads the nodes of all agents that run; the others keep their reports', async () => {
    const flags = input.nodeFlags.map((flag) => flag.replace('node-1', 'node-2'));
    applyAgent('node-2', flags);
    applyAgent('node-3', input.nodeFlags, false);
    const { totals } = await planned([asAdmin(), '--nodes']);
    expect(totals.filter(({ unit }) => unit === 'imagegc').map(({ node }) => node)).toEqual([
      'node-1',
      'node-2',
    ]);
    expect(commands).toHaveLength(2);
  });

  test('warnings of the command in the pod are notes of the plan', async () => {
    const stderr = 'dustpan: warning: node node-1: no disk\nnoise\n';
    program = () => Promise.resolve({ exitCode: 0, stdout: '{}', stderr });
    const { notes } = await planned([asAdmin(), '--node=node-1,node-2']);
    expect(notes).toContain('Node node-1: no disk.');
    expect(notes).toContainEqual(
      expect.stringMatching(/^Node node-2 was not read: no agent of dustpan runs there;.* --cri-socket/),
    );
    expect(notes.join('\n')).not.toContain('noise');
  });
});

describe('a pod that only has the labels of an agent', () => {
  const forge = (node: string): void => {
    api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'evil' } });
    applyAgent(node, [], true, 'evil');
  };
  const bind = (): void => {
    api.store.apply({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
      metadata: { name: 'dustpan-agent', labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dustpan-agent' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'dustpan', name: 'dustpan-agent' }],
    });
  };

  test('runs no command beside the real one, whose binding shows it', async () => {
    bind();
    forge('node-1');
    forge('node-2');
    const { notes, totals } = await planned([asAdmin(), '--nodes']);
    expect(commands).toHaveLength(1);
    expect(totals.filter(({ unit }) => unit === 'imagegc')).toMatchObject([{ node: 'node-1' }]);
    expect(notes).toContain(
      "Node node-2 was not read: pod evil/agent-node-2 has the labels of an agent, but no DaemonSet and service account of dustpan's chart; no command runs there.",
    );
  });

  test('prevents every command where no binding shows which is the real one', async () => {
    forge('node-2');
    const { notes } = await planned([asAdmin(), '--node=node-1']);
    expect(commands).toEqual([]);
    expect(notes.join()).toContain('agents run in several namespaces (dustpan, evil)');
  });
});

describe('a node that cannot be read', () => {
  test('without the right, the plan names the right once and shows the report', async () => {
    applyAgent('node-2', input.nodeFlags);
    const { code, stdout } = await dustpan(['plan', '--nodes', as('jane')]);
    expect(code).toBe(0);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('! Nodes node-1, node-2 were not read: ');
    expect(text).toContain(
      'kubectl auth can-i get pods/exec -n dustpan; an administrator grants it by a Role of namespace dustpan',
    );
    expect(text).toMatch(/Removable on (?:other )?nodes.*node-1 4 /);
  });

  test('without the right, why names the right and what the report says', async () => {
    const { code, stderr } = await dustpan(['why', 'image', 'unused:v1', '--node=node-1', as('jane')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^dustpan: node node-1 was not read: [^\n]*verb get on pods\/exec[^\n]*\n$/);
    expect(stderr).toContain('Its agent reports that 4 images (');
    expect(stderr).toContain('and 3 containers can be removed, due now or not');
  });

  test('an unknown name is bad input, with the nearest names', async () => {
    const { code, stderr } = await dustpan(['plan', '--node=nod-1', asAdmin()]);
    const message = 'dustpan: --node: there is no node nod-1; did you mean node-1?\n';
    expect({ code, stderr }).toEqual({ code: 2, stderr: message });
  });

  test('whose runtime is not its kubelet’s, is a note of the plan', async () => {
    applyNode('node-1', { nodeInfo: { containerRuntimeVersion: 'cri-o://1.34.0' } });
    const { notes } = await planned([asAdmin(), '--node=node-1']);
    expect(notes.find((note) => note.startsWith('Node node-1 was not read: '))).toContain(
      "is not the kubelet's: the kubelet of this node uses cri-o://1.34.0, this is containerd ",
    );
  });

  test.each<readonly [string, Awaited<ReturnType<SandboxExec>>, string]>([
    [
      'an agent of another version',
      { exitCode: 2, stderr: "dustpan: snapshot: unknown option '--only-node'" },
      "the agent's pod dustpan/agent-node-1 has a version of dustpan without snapshot --only-node; upgrade it",
    ],
    [
      'a runtime that does not respond',
      { exitCode: 1, stderr: 'dustpan: warning: x\ndustpan: the runtime is down' },
      "dustpan snapshot in the agent's pod dustpan/agent-node-1 exited with 1: dustpan: the runtime is down",
    ],
    [
      'output that is no JSON',
      { exitCode: 0, stdout: 'hello' },
      "the agent's pod dustpan/agent-node-1 did not write JSON",
    ],
  ])('is a note of the plan: %s', async (_, result, problem) => {
    program = () => Promise.resolve(result);
    const { notes } = await planned([asAdmin(), '--node=node-1']);
    expect(notes.find((note) => note.startsWith('Node node-1 was not read: '))).toContain(problem);
  });
});
