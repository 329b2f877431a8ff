import { describe, expect, test } from 'vitest';
import { agentOptions, memoryEnvironment, memoryFlags } from '../../../src/daemon/agent/command.ts';
import { controllerOptions } from '../../../src/daemon/controller/command.ts';
import { problemOf } from '../../fakes/command-line.ts';
import { only, render, ruleLines, template, workload, type Manifest, type RenderOptions } from './chart.ts';

const everything = ['everything-values.yaml'];

const controllerRights = [
  'events create,patch',
  'gcpolicies list,watch',
  'gcpolicies/status patch',
  'jobs list,watch',
  'namespaces get,list,watch',
  'nodegcreports list,watch',
  'nodes get,list,watch',
  'pods get,list,watch,delete',
  'pods/eviction create',
  'pods/status patch',
  'replicasets list,watch',
];
const agentRights = [
  'events create,patch',
  'gcpolicies list',
  'nodegcreports get,create',
  'nodegcreports/status patch',
  'nodes list',
  'nodes/configz get',
  'nodes/stats get',
  'pods get,list,watch',
];

describe('rights', () => {
  const noneNeeded = {
    'rbac.jobs': false,
    'rbac.replicaSets': false,
    'rbac.evictions': false,
    'rbac.kubeletStats': false,
  };
  const optional = ['jobs list,watch', 'replicasets list,watch', 'pods/eviction create'];

  const workloadKinds = ['cronjobs', 'daemonsets', 'deployments', 'jobs', 'replicasets', 'statefulsets'];

  test.each<{
    role: string;
    set: Record<string, unknown>;
    all: readonly string[];
    without: readonly string[];
  }>([
    { role: 'controller', set: {}, all: controllerRights, without: [] },
    { role: 'agent', set: {}, all: agentRights, without: [] },
    { role: 'controller', set: noneNeeded, all: controllerRights, without: optional },
    { role: 'agent', set: noneNeeded, all: agentRights, without: ['nodes/configz get', 'nodes/stats get'] },
    {
      ...{ role: 'controller', set: { 'rbac.wantedImages': true }, without: [] },
      all: [...controllerRights, ...workloadKinds.map((kind) => `${kind} list`)].toSorted(),
    },
    { role: 'agent', set: { 'rbac.wantedImages': true }, all: agentRights, without: [] },
    // No agent is pinned to its node.
    ...['admissionPolicy.enabled', 'agent.enabled'].map((value) => ({
      ...{ role: 'controller', set: { [value]: false } },
      ...{ all: controllerRights, without: ['pods/eviction create'] },
    })),
    {
      ...{ role: 'agent', set: { 'agent.orphans.podDirectories': true }, without: [] },
      all: [...agentRights, 'volumeattachments get'],
    },
  ])('of the $role with $set are all but $without', async ({ role, set, all, without }) => {
    const rights = ruleLines(only(await render({ set }), 'ClusterRole', `-${role}`));
    expect(rights).toEqual(all.filter((right) => !without.includes(right)));
  });

  test('of the list of wanted images are limited to it, and are given only on request', async () => {
    const rightsIn = async (set: Record<string, unknown>) => {
      const roles = (await render({ set })).filter(({ kind }) => kind === 'Role');
      return roles.flatMap((one) => ruleLines(one).filter((line) => line.startsWith('configmaps')));
    };
    expect(await rightsIn({})).toEqual([]);
    expect(await rightsIn({ 'rbac.wantedImages': true, 'agent.enabled': false })).toEqual([]);
    const list = 'configmaps(dustpan-wanted-images)';
    expect(await rightsIn({ 'rbac.wantedImages': true })).toEqual([
      `${list} get`,
      'configmaps create',
      `${list} get,update`,
    ]);
  });

  test('of the Leases are limited to their namespaces and names', async () => {
    const manifests = await render();
    const roles = manifests.filter(({ kind }) => kind === 'Role');
    const rightsOf = (isWanted: (metadata: Manifest['metadata']) => boolean) =>
      roles.filter(({ metadata }) => isWanted(metadata)).map(ruleLines);
    expect(rightsOf(({ name }) => name === 'dustpan-controller')).toEqual([
      ['leases create', 'leases(dustpan-controller) get,update'],
    ]);
    expect(rightsOf(({ namespace }) => namespace === 'kube-system')).toEqual([
      ['leases create', 'leases(gc.dustpan.dev) get,update'],
    ]);
    const [deployment] = workload(manifests, 'Deployment').spec.template.spec.containers;
    expect(deployment.args).toContain('--leader-elect-resource-name=dustpan-controller');
  });

  test.each(['default-values.yaml', 'everything-values.yaml', 'secure-values.yaml'])(
    'with %s: each has a comment that explains it',
    async (name) => {
      const { stdout } = await template({ values: [name] });
      const lines = stdout.split('\n').map((line) => line.trim());
      const rules = lines.flatMap((line, index) => (line.startsWith('- {apiGroups:') ? [index] : []));
      expect(rules.length).toBeGreaterThan(20);
      for (const index of rules) expect(lines[index - 1], lines[index]).toMatch(/^# \S/);
    },
  );

  test.each(['nodes/proxy', 'secrets', '*'])('never include %s', async (resource) => {
    const all = (await render({ values: everything })).flatMap(ruleLines);
    expect(all.filter((line) => line.startsWith(`${resource} `) || line.includes('*'))).toEqual([]);
  });
});

describe('pods', () => {
  const agentOf = async (set: Record<string, unknown> = {}) =>
    workload(await render({ set }), 'DaemonSet').spec.template.spec;

  test('of the agent start Node with the recommended flags', async () => {
    const [{ command, env }] = (await agentOf()).containers;
    expect(command).toEqual(['/nodejs/bin/node', ...memoryFlags.split(' '), '/app/dist/main.js']);
    const [name, value] = memoryEnvironment.split('=');
    expect(env).toContainEqual({ name, value });
  });

  test.each(['default-values.yaml', 'minimal-values.yaml', 'secure-values.yaml'])(
    'have only flags that the program knows: %s',
    async (name) => {
      const manifests = await render({ values: [name] });
      const of = (kind: string): readonly string[] => {
        const found = manifests.find((one) => one.kind === kind);
        return found === undefined
          ? []
          : workload([found], kind as 'DaemonSet').spec.template.spec.containers[0].args.slice(1);
      };
      expect(problemOf(controllerOptions(), of('Deployment'))).toBeUndefined();
      expect(problemOf(agentOptions(), of('DaemonSet'))).toBeUndefined();
    },
  );

  const podDirectories = { 'agent.orphans.podDirectories': true };
  const podCgroups = { 'agent.orphans.podCgroups': true };
  const checkpoints = { 'agent.checkpoints': true };

  test.each([
    { set: {}, add: undefined },
    // Beside their own.
    { set: podDirectories, add: ['DAC_OVERRIDE'] },
    {
      set: { ...podDirectories, 'agent.securityContext.capabilities.add[0]': 'FOWNER' },
      add: ['FOWNER', 'DAC_OVERRIDE'],
    },
    { set: podCgroups, add: undefined },
    { set: checkpoints, add: undefined },
  ])('of the agent with $set have no capability but $add', async ({ set, add }) => {
    const { capabilities } = (await agentOf(set)).containers[0].securityContext;
    expect(capabilities).toEqual({ drop: ['ALL'], ...(add && { add }) });
  });

  test.each([
    { set: {}, paths: [] },
    { set: podDirectories, paths: ['/var/lib/kubelet/pods'] },
    { set: podCgroups, paths: ['/sys/fs/cgroup'] },
    { set: checkpoints, paths: ['/var/lib/kubelet/checkpoints'] },
  ])('of the agent with $set write to logs, to their own state and to $paths', async ({ set, paths }) => {
    const { containers, volumes } = await agentOf(set);
    const writable = (containers[0].volumeMounts ?? []).filter(({ readOnly }) => readOnly !== true);
    const all = writable.map(({ name }) => volumes.find((one) => one.name === name)?.hostPath?.path);
    expect(all).toEqual([...paths, '/var/log/pods', '/var/log/containers', '/var/lib/dustpan']);
    const pods = writable.find(({ name }) => name === 'kubelet-pods');
    // Without it the agent would not know what is mounted there.
    if (pods !== undefined) expect(pods).toHaveProperty('mountPropagation', 'HostToContainer');
  });

  test.each([
    { set: {}, path: '/run/containerd', socket: 'containerd.sock' },
    { set: { 'agent.runtime': 'crio' }, path: '/run/crio', socket: 'crio.sock' },
    { set: { 'agent.criSocket': '/a/b/c.sock' }, path: '/a/b', socket: 'c.sock' },
    // In /run only the socket, not all of it.
    { set: { 'agent.runtime': 'cri-dockerd' }, path: '/run/cri-dockerd.sock', socket: 'cri-dockerd.sock' },
  ])("mount the directory of the runtime's socket, or the socket: $path", async ({ set, path, socket }) => {
    const { containers, volumes } = await agentOf(set);
    const isSocket = path.endsWith('.sock');
    const type = isSocket ? 'Socket' : 'Directory';
    const mountPath = `/run/cri${isSocket ? `/${socket}` : ''}`;
    expect(volumes).toContainEqual({ name: 'cri', hostPath: { path, type } });
    const mount = containers[0].volumeMounts?.find(({ name }) => name === 'cri');
    expect(mount).toMatchObject({ mountPath, readOnly: true });
    expect(containers[0].env).toContainEqual({
      name: 'DUSTPAN_CRI_SOCKET',
      value: `unix:///run/cri/${socket}`,
    });
  });

  test("have the kubelet's address in a variable after HOST_IP: commands in the pod need it expanded too", async () => {
    const value = 'https://$(HOST_IP):10260';
    const [{ env }] = (await agentOf({ 'agent.kubelet.endpoint': value })).containers;
    const at = env.findIndex(({ name }) => name === 'DUSTPAN_KUBELET_ENDPOINT');
    expect(env[at]).toEqual({ name: 'DUSTPAN_KUBELET_ENDPOINT', value });
    expect(env.slice(0, at).map(({ name }) => name)).toContain('HOST_IP');
  });

  test.each([
    { set: {}, image: 'dustpan:0.1.0' },
    { set: { 'image.registry': 'r.example.com/', 'image.tag': '2' }, image: 'r.example.com/dustpan:2' },
    {
      set: { 'image.registry': 'r.example.com', 'global.imageRegistry': 'm.example.com' },
      image: 'm.example.com/dustpan:0.1.0',
    },
  ])('have the image $image', async ({ set, image }) => {
    expect((await agentOf(set)).containers[0].image).toBe(image);
  });
});

describe('the network', () => {
  const set = { 'networkPolicy.enabled': true, 'networkPolicy.egress.enabled': true };
  const egressOf = async (component: string, more: Record<string, unknown> = {}): Promise<unknown> =>
    only(await render({ set: { ...set, ...more } }), 'NetworkPolicy', `-${component}`).spec?.['egress'];
  const tcp = (...ports: readonly number[]): object => ({
    ports: ports.map((port) => ({ port, protocol: 'TCP' })),
  });

  test.each([
    { endpoint: '', port: 10250 },
    { endpoint: 'https://10.0.0.7:10260', port: 10260 },
    { endpoint: 'https://$(HOST_IP):10260/', port: 10260 },
    { endpoint: 'https://[fd00::7]:10260', port: 10260 },
    { endpoint: 'https://[fd00::10260]', port: 443 },
    { endpoint: 'https://kubelet.example.com', port: 443 },
  ])(
    'the agent may reach the API server and the kubelet of "$endpoint": $port',
    async ({ endpoint, port }) => {
      const egress = await egressOf('agent', { 'agent.kubelet.endpoint': endpoint });
      expect(egress).toEqual([tcp(443, 6443), tcp(port)]);
    },
  );

  test('the controller may reach only the API server', async () => {
    expect(await egressOf('controller')).toEqual([tcp(443, 6443)]);
  });
});

describe('monitoring', () => {
  const set = { 'metrics.serviceMonitor.enabled': true, 'metrics.podMonitor.enabled': true };
  const apiVersions = ['monitoring.coreos.com/v1'];
  const kinds = async (options: RenderOptions) =>
    (await render(options)).map(({ kind }) => kind).filter((kind) => kind.endsWith('Monitor'));

  test('is rendered when the cluster has the kinds', async () => {
    expect(await kinds({ set })).toEqual([]);
    expect(await kinds({ set, apiVersions })).toEqual(['PodMonitor', 'ServiceMonitor']);
  });

  test('fails when a required kind is missing', async () => {
    const { code, stderr } = await template({
      set: { ...set, 'metrics.podMonitor.renderMode': 'failIfMissing' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('the cluster has no PodMonitor');
  });

  test.each<{ name: string; options: RenderOptions; annotated: readonly string[] }>([
    { name: 'without monitors', options: {}, annotated: ['Deployment', 'DaemonSet'] },
    {
      name: 'with both on, where the cluster has no such kinds',
      options: { set },
      annotated: ['Deployment', 'DaemonSet'],
    },
    { name: 'with both', options: { set, apiVersions }, annotated: [] },
    {
      name: 'with a monitor of the controller alone',
      options: { set: { 'metrics.serviceMonitor.enabled': true }, apiVersions },
      annotated: ['DaemonSet'],
    },
    {
      name: 'with a monitor of the agents alone',
      options: { set: { 'metrics.podMonitor.enabled': true }, apiVersions },
      annotated: ['Deployment'],
    },
    {
      name: 'with a ServiceMonitor of both',
      options: { set: { 'metrics.serviceMonitor': { enabled: true, agents: true } }, apiVersions },
      annotated: [],
    },
    { name: 'switched off', options: { set: { 'metrics.scrapeAnnotations': false } }, annotated: [] },
  ])('by annotations, $name: $annotated', async ({ options, annotated }) => {
    const manifests = await render(options);
    const isAnnotated = (kind: 'Deployment' | 'DaemonSet'): boolean =>
      JSON.stringify(workload(manifests, kind).spec.template.metadata).includes('prometheus.io/scrape');
    expect((['Deployment', 'DaemonSet'] as const).filter(isAnnotated)).toEqual(annotated);
  });
});
