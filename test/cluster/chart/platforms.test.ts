import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { chartDirectory, only, platforms, render, renderNotes, ruleLines, workload } from './chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { create, helm, kubectl } from '../servers/kubectl.ts';

describe('the chart', () => {
  test.each([
    { platform: 'openshift', paths: ['/run/crio', '/var/lib/containers', '/var/lib/kubelet'] },
    {
      platform: 'k3s',
      paths: ['/run/k3s/containerd', '/var/lib/rancher/k3s/agent/containerd', '/var/lib/kubelet'],
    },
    {
      platform: 'rke2',
      paths: ['/run/k3s/containerd', '/var/lib/rancher/rke2/agent/containerd', '/var/lib/kubelet'],
    },
    { platform: 'k0s', paths: ['/run/k0s', '/var/lib/k0s/containerd', '/var/lib/k0s/kubelet'] },
    {
      platform: 'microk8s',
      paths: ['run', 'var/lib/containerd', 'var/lib/kubelet'].map(
        (path) => `/var/snap/microk8s/common/${path}`,
      ),
    },
    ...['generic', 'gke', 'eks', 'aks', 'talos', 'bottlerocket', 'kind'].map((platform) => ({
      platform,
      paths: ['/run/containerd', '/var/lib/containerd', '/var/lib/kubelet'],
    })),
  ])('on $platform mounts $paths', async ({ platform, paths }) => {
    const { containers, volumes } = workload(await render({ set: { platform } }), 'DaemonSet').spec.template
      .spec;
    expect(volumes.slice(0, 3).map(({ hostPath }) => hostPath?.path)).toEqual(paths);
    expect(containers[0].args).toContain(`--kubelet-root-dir=${paths[2] ?? ''}`);
  });

  test.each(['kind', 'eks', 'aks', 'talos'])('on %s has the objects of generic', async (platform) => {
    expect(await render({ set: { platform } })).toEqual(await render());
  });

  test('prefers explicit values', async () => {
    const set = {
      platform: 'k0s',
      ...{ 'agent.runtime': 'containerd', 'agent.hostPaths.kubelet': '/data/kubelet' },
      'agent.seLinuxOptions': { type: 'mine_t' },
    };
    const { containers, volumes } = workload(await render({ set }), 'DaemonSet').spec.template.spec;
    const paths = ['/run/containerd', '/var/lib/containerd', '/data/kubelet'];
    expect(volumes.slice(0, 3).map(({ hostPath }) => hostPath?.path)).toEqual(paths);
    expect(containers[0].securityContext.seLinuxOptions).toEqual({ type: 'mine_t' });
  });

  test.each(platforms)('on %s has these SELinux types, users and rights', async (platform) => {
    const manifests = await render({ set: { platform } });
    const agent = manifests.some(({ kind }) => kind === 'DaemonSet')
      ? workload(manifests, 'DaemonSet').spec.template.spec.containers[0].securityContext
      : {};
    const types: Readonly<Record<string, string>> = { openshift: 'spc_t', bottlerocket: 'control_t' };
    expect('seLinuxOptions' in agent ? agent.seLinuxOptions : {}).toEqual(
      platform in types ? { type: types[platform] } : {},
    );
    const users = [only(manifests, 'Pod').spec, workload(manifests, 'Deployment').spec.template.spec].map(
      (pod) => JSON.stringify(pod?.['securityContext' as never]).includes('65532'),
    );
    expect(users).toEqual(platform === 'openshift' ? [false, false] : [true, true]);
    const rules = manifests.filter(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-scc'));
    expect(rules.flatMap(ruleLines)).toEqual(
      platform === 'openshift' ? ['securitycontextconstraints(privileged) use'] : [],
    );
  });

  test('on gke-autopilot has no agents, and its notes say so', async () => {
    const set = { platform: 'gke-autopilot', 'networkPolicy.enabled': true };
    const manifests = await render({ set });
    expect(
      manifests.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'agent'),
    ).toEqual([]);
    expect(await renderNotes(set)).toContain('platform is gke-autopilot, and Autopilot rejects');
  });

  test('admits the priority classes of both components with a quota, where the platform needs one', async () => {
    const quotas = async (set: Readonly<Record<string, unknown>>) =>
      (await render({ values: ['../values-ha.yaml'], set })).filter(({ kind }) => kind === 'ResourceQuota');
    const [quota] = await quotas({ platform: 'gke' });
    expect(quota?.spec?.['scopeSelector']).toMatchObject({
      matchExpressions: [{ values: ['system-cluster-critical', 'system-node-critical'] }],
    });
    expect(await quotas({ platform: 'gke', namespaceOverride: 'kube-system' })).toEqual([]);
    const none = { 'agent.priorityClassName': '', 'controller.priorityClassName': '' };
    expect(await quotas({ platform: 'gke', ...none })).toEqual([]);
    expect(await quotas({})).toEqual([]);
  });
});

describe('a cluster with Pod Security, and priority classes limited to quotas', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-platforms-'));
  const release = ['dustpan', chartDirectory, '--namespace', 'dustpan-system'];
  let cluster: Cluster;

  beforeAll(async () => {
    const file = join(dir, 'admission.json');
    writeFileSync(file, JSON.stringify(admission));
    cluster = await startCluster({
      parts: ['etcd', 'api', 'kcm'],
      api: { args: [`--admission-control-config-file=${file}`] },
    });
    const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
    await create(
      cluster,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dustpan-system', labels } },
      node('worker'),
      node('virtual', { type: 'virtual-kubelet' }),
      node('fargate', { 'eks.amazonaws.com/compute-type': 'fargate' }),
      node('windows', { 'kubernetes.io/os': 'windows' }),
    );
  });

  const k3s = { kubeletVersion: 'v1.34.1+k3s1', containerRuntimeVersion: 'containerd://2.1.4-k3s1' };
  const gke = { kubeletVersion: 'v1.33.4-gke.1134000', containerRuntimeVersion: 'containerd://1.7.24' };
  const eks = { kubeletVersion: 'v1.33.4-eks-99d6cc0', containerRuntimeVersion: 'containerd://1.7.27' };
  const crio = { kubeletVersion: 'v1.32.8', containerRuntimeVersion: 'cri-o://1.32.8' };
  const docker = { kubeletVersion: 'v1.34.1', containerRuntimeVersion: 'docker://28.4.0' };
  const kubeadm = { kubeletVersion: 'v1.34.1', containerRuntimeVersion: 'containerd://2.1.4' };
  const ubuntu = { ...kubeadm, osImage: 'Ubuntu 24.04.2 LTS' };
  const talos = { ...kubeadm, osImage: 'Talos (v1.12.0)' };
  const unknown = { kubeletVersion: 'devel', containerRuntimeVersion: '' };

  test.each<{ node: object; set: readonly string[]; message?: string }>([
    { node: k3s, set: ['platform=k3s'] },
    {
      node: k3s,
      set: [],
      message: 'platform is generic, but node worker reports kubelet v1.34.1+k3s1: set platform to k3s',
    },
    { node: k3s, set: ['platform=rke2'], message: 'set platform to k3s' },
    { node: k3s, set: ['agent.runtime=k3s'] },
    { node: k3s, set: ['agent.runtime=containerd'], message: 'agent.runtime to k3s or rke2' },
    { node: gke, set: [], message: 'set platform to gke or gke-autopilot' },
    { node: gke, set: ['platform=gke-autopilot'] },
    { node: eks, set: [] },
    { node: eks, set: ['platform=bottlerocket'] },
    { node: eks, set: ['platform=gke-autopilot'], message: 'set platform to eks or bottlerocket or generic' },
    { node: crio, set: ['platform=openshift'] },
    {
      node: crio,
      set: ['platform=talos'],
      message:
        'the container runtime of platform talos is containerd, but node worker reports cri-o://1.32.8: set platform, or agent.runtime to crio',
    },
    { node: crio, set: ['platform=talos', 'agent.runtime=crio'] },
    { node: crio, set: ['agent.criSocket=/run/mine/mine.sock'] },
    { node: crio, set: ['agent.enabled=false'] },
    { node: crio, set: ['agent.nodeSelector.pool=other'] },
    { node: crio, set: ['platformCheck=false'] },
    { node: docker, set: [], message: 'agent.runtime to cri-dockerd' },
    { node: unknown, set: ['platform=openshift'] },
    { node: unknown, set: ['platform=k0s'] },
    ...['k0s', 'k3s', 'gke', 'gke-autopilot'].map((platform) => ({
      node: kubeadm,
      set: [`platform=${platform}`],
      message: `platform is ${platform}, but no node is of it, for example node worker reports kubeletVersion v1.34.1: set platform to that of the nodes, or leave it out`,
    })),
    {
      node: kubeadm,
      set: ['platform=microk8s'],
      message: 'node worker has no label microk8s.io/cluster',
    },
    { node: ubuntu, set: ['platform=talos'], message: 'node worker reports osImage Ubuntu 24.04.2 LTS' },
    { node: talos, set: ['platform=talos'] },
    { node: kubeadm, set: ['platform=kind'] },
    { node: kubeadm, set: ['platform=k0s', 'agent.runtime=containerd'] },
    { node: kubeadm, set: ['platform=k0s', 'platformCheck=false'] },
  ])(
    '$node.kubeletVersion $node.containerRuntimeVersion and $set: $message',
    async ({ node, set, message }) => {
      const patch = JSON.stringify({ status: { nodeInfo: node } });
      await kubectl(cluster, ['patch', 'node', 'worker', '--subresource=status', '--patch', patch]);
      const options = ['--dry-run=server', ...set.map((one) => `--set=${one}`)];
      const { code, stderr } = await cluster.run('helm', ['install', ...release, ...options]);
      expect({ code, stderr }).toEqual(
        message === undefined
          ? { code: 0, stderr: '' }
          : { code: 1, stderr: expect.stringContaining(message) as string },
      );
    },
  );

  test('gets an agent on its Linux node by the quota of gke, and none on virtual nodes', async () => {
    const notes = await helm(cluster, 'install', ...release, '--set=platform=gke,platformCheck=false');
    expect(notes).not.toContain('pod-security.kubernetes.io/enforce');
    const counts = '-o=jsonpath={.status.desiredNumberScheduled} {.status.currentNumberScheduled}';
    const scheduled = () =>
      kubectl(cluster, ['get', 'daemonset', 'dustpan-agent', '--namespace', 'dustpan-system', counts]);
    await expect.poll(scheduled, { timeout: 120_000 }).toBe('1 1');
    const overrides = JSON.stringify({ spec: { priorityClassName: 'system-node-critical' } });
    const other = ['run', 'other', '--image=other', '--namespace=default', `--overrides=${overrides}`];
    const { stderr } = await cluster.run('kubectl', other);
    expect(stderr).toContain('insufficient quota to match these scopes');
  });
});

/** Limits as on GKE, and the Pod Security of Talos. */
const admission = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'ResourceQuota',
      configuration: {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'ResourceQuotaConfiguration',
        limitedResources: [
          {
            resource: 'pods',
            matchScopes: [
              {
                scopeName: 'PriorityClass',
                operator: 'In',
                values: ['system-node-critical', 'system-cluster-critical'],
              },
            ],
          },
        ],
      },
    },
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: 'baseline', 'enforce-version': 'latest' },
      },
    },
  ],
};

const node = (name: string, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/os': 'linux', ...labels } },
});
