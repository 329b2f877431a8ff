import { agentUser } from '../cluster/agent/agent.ts';
import { startCluster, type Cluster } from '../cluster/servers/cluster.ts';
import { dustpanUser } from '../cluster/controller/dustpan.ts';
import { etcdEntry, type StoredObject } from '../cluster/servers/etcd-objects.ts';
import { etcdClient, type EtcdClient } from '../cluster/servers/etcd.ts';
import type { ReportingNode } from '../../src/kube/actions/node-report.ts';
import { apiClient, type ApiClient } from './api-client.ts';
import { settled } from './settle.ts';
import { policyManifest } from '../manifests.ts';

/** API server and etcd with as many Node objects as there are to be agents. */
export interface AgentsBed {
  readonly cluster: Cluster;
  readonly etcd: EtcdClient;
  readonly api: ApiClient;
  readonly nodes: readonly ReportingNode[];
}

/** Starts both and writes the nodes past the API server. */
export async function startAgentsBed(agents: number): Promise<AgentsBed> {
  const cluster = await startCluster({
    parts: ['etcd', 'api'],
    crds: true,
    users: [dustpanUser, agentUser],
    api: { audit: false },
  });
  const etcd = etcdClient(cluster.etcdUrl);
  const nodes = Array.from({ length: agents }, (_, i) => nodeOf(i));
  await etcd.putFast(nodes.map((node) => etcdEntry(stored(node))));
  await settled(cluster);
  return { cluster, etcd, api: apiClient(cluster), nodes };
}

function nodeOf(index: number): ReportingNode {
  const number = String(index).padStart(5, '0');
  return {
    name: `ip-10-20-${number}.eu-central-1.compute.internal`,
    uid: `00000000-0000-4000-8000-0000000${number}`,
  };
}

function stored({ name, uid }: ReportingNode): StoredObject {
  const labels = {
    'kubernetes.io/os': 'linux',
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': 'a',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, creationTimestamp: '2026-01-01T00:00:00Z', labels },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

const policyPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

/** Makes the policy that governs every node, in mode DryRun. */
export async function createPolicy({ api }: Pick<AgentsBed, 'api'>): Promise<void> {
  const nodes = {
    imageGC: { highThresholdPercent: 85, keep: ['registry.example.com/base/*'] },
    containerGC: {},
  };
  await api.send('POST', policyPath, {
    body: policyManifest('bench', { mode: 'DryRun', nodes }),
  });
}

/** Changes what it says, as a person would. */
export async function changePolicy({ api }: Pick<AgentsBed, 'api'>): Promise<void> {
  await api.send('PATCH', `${policyPath}/bench`, {
    body: { spec: { nodes: { imageGC: { highThresholdPercent: 84 } } } },
    contentType: 'application/merge-patch+json',
  });
}
