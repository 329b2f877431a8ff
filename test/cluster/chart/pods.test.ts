import { describe, expect, test } from 'vitest';
import { agentOptions, memoryEnvironment, memoryFlags } from '../../../src/daemon/agent/command.ts';
import { controllerOptions } from '../../../src/daemon/controller/command.ts';
import { problemOf } from '../../fakes/command-line.ts';
import { only, render, ruleLines, template, workload, type RenderOptions } from './chart.ts';

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
  'gcpolicies list,watch',
  'nodegcreports get,create',
  'nodegcreports/status patch',
  'nodes list,watch',
  'nodes/configz get',
  'nodes/stats get',
  'pods get,list,watch',
];

describe('rights', () => {
  const rightsOf = async (role: string, options?: RenderOptions) =>
    ruleLines(only(await render(options), 'ClusterRole', role));

  test('of the controller are exactly these', async () => {
    expect(await rightsOf('-controller')).toEqual(controllerRights);
  });

  test('of the agent are exactly these', async () => {
    expect(await rightsOf('-agent')).toEqual(agentRights);
  });

  test('of the Lease are limited to its namespace and name', async () => {
    const role = (await render()).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'dustpan-controller',
    );
    expect(role.map(ruleLines)).toEqual([['leases create', 'leases(dustpan-controller) get,update']]);
    const ofCluster = (await render()).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'kube-system',
    );
    expect(ofCluster.map(ruleLines)).toEqual([['leases create', 'leases(gc.dustpan.dev) get,update']]);
    const [deployment] = workload(await render(), 'Deployment').spec.template.spec.containers;
    expect(deployment.args).toContain('--leader-elect-resource-name=dustpan-controller');
  });

  test('that no policy needs can be switched off', async () => {
    const set = {
      'rbac.jobs': false,
      'rbac.replicaSets': false,
      'rbac.evictions': false,
      'rbac.kubeletStats': false,
    };
    const gone = ['jobs list,watch', 'replicasets list,watch', 'pods/eviction create'];
    expect(await rightsOf('-controller', { set })).toEqual(
      controllerRights.filter((one) => !gone.includes(one)),
    );
    expect(await rightsOf('-agent', { set })).toEqual(
      agentRights.filter((one) => !/^nodes\/(stats|configz) /.test(one)),
    );
  });

  test.each(['admissionPolicy.enabled', 'agent.enabled'])(
    'to evict are omitted when %s is false: no agent is pinned to its node',
    async (value) => {
      expect(await rightsOf('-controller', { set: { [value]: false } })).toEqual(
        controllerRights.filter((one) => one !== 'pods/eviction create'),
      );
    },
  );

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

  test('of the agent have no capability', async () => {
    expect((await agentOf()).containers[0].securityContext.capabilities).toEqual({ drop: ['ALL'] });
  });

  test('of the agent have one capability where it may remove pod directories, beside their own', async () => {
    const capabilitiesOf = async (set: Readonly<Record<string, unknown>>) =>
      (await agentOf(set)).containers[0].securityContext.capabilities;
    const set = { 'agent.orphans.podDirectories': true };
    expect(await capabilitiesOf(set)).toEqual({ drop: ['ALL'], add: ['DAC_OVERRIDE'] });
    const own = { ...set, 'agent.securityContext.capabilities.add[0]': 'FOWNER' };
    expect(await capabilitiesOf(own)).toEqual({ drop: ['ALL'], add: ['FOWNER', 'DAC_OVERRIDE'] });
    expect(await capabilitiesOf({ 'agent.orphans.podCgroups': true })).toEqual({ drop: ['ALL'] });
  });

  test.each([
    { set: { 'agent.orphans.podDirectories': true }, paths: ['/var/lib/kubelet/pods'] },
    { set: { 'agent.orphans.podCgroups': true }, paths: ['/sys/fs/cgroup'] },
  ])('of the agent write to orphaned resources if a value allows it: $paths', async ({ set, paths }) => {
    const { containers, volumes } = await agentOf(set);
    const writable = (containers[0].volumeMounts ?? []).filter(({ readOnly }) => readOnly !== true);
    const all = writable.map(({ name }) => volumes.find((one) => one.name === name)?.hostPath?.path);
    expect(all).toEqual([...paths, '/var/log/pods', '/var/log/containers', '/var/lib/dustpan']);
    const pods = writable.find(({ name }) => name === 'kubelet-pods');
    // Without it the agent would not know what is mounted there.
    if (pods !== undefined) expect(pods).toHaveProperty('mountPropagation', 'HostToContainer');
  });

  test('of the agent write only to logs and their own state', async () => {
    const { containers, volumes } = await agentOf();
    const writable = (containers[0].volumeMounts ?? []).filter(({ readOnly }) => readOnly !== true);
    const paths = writable.map(({ name }) => volumes.find((one) => one.name === name)?.hostPath?.path);
    expect(paths).toEqual(['/var/log/pods', '/var/log/containers', '/var/lib/dustpan']);
  });

  test.each([
    { set: {}, directory: '/run/containerd', socket: 'unix:///run/cri/containerd.sock' },
    { set: { 'agent.runtime': 'crio' }, directory: '/run/crio', socket: 'unix:///run/cri/crio.sock' },
    { set: { 'agent.criSocket': '/a/b/c.sock' }, directory: '/a/b', socket: 'unix:///run/cri/c.sock' },
  ])("mount the directory of the runtime's socket: $directory", async ({ set, directory, socket }) => {
    const { containers, volumes } = await agentOf(set);
    expect(volumes).toContainEqual({ name: 'cri', hostPath: { path: directory, type: 'Directory' } });
    expect(containers[0].env).toContainEqual({ name: 'DUSTPAN_CRI_SOCKET', value: socket });
  });

  test("have the kubelet's address in a variable after HOST_IP: commands in the pod need it expanded too", async () => {
    const value = 'https://$(HOST_IP):10260';
    const [{ env }] = (await agentOf({ 'agent.kubelet.endpoint': value })).containers;
    const at = env.findIndex(({ name }) => name === 'DUSTPAN_KUBELET_ENDPOINT');
    expect(env[at]).toEqual({ name: 'DUSTPAN_KUBELET_ENDPOINT', value });
    expect(env.slice(0, at).map(({ name }) => name)).toContain('HOST_IP');
  });

  test('mount only a socket that lies in /run', async () => {
    const { containers, volumes } = await agentOf({ 'agent.runtime': 'cri-dockerd' });
    const path = '/run/cri-dockerd.sock';
    expect(volumes).toContainEqual({ name: 'cri', hostPath: { path, type: 'Socket' } });
    const mountPath = '/run/cri/cri-dockerd.sock';
    expect(containers[0].volumeMounts).toContainEqual({ name: 'cri', mountPath, readOnly: true });
    expect(containers[0].env).toContainEqual({ name: 'DUSTPAN_CRI_SOCKET', value: `unix://${mountPath}` });
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

  test('is omitted when the cluster has no such kind', async () => {
    expect(await kinds({ set })).toEqual([]);
  });

  test('is rendered when the cluster has the kinds', async () => {
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
