import { PolicySet } from '../../src/api/policy-set.ts';
import type { PodGcPlan } from '../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../src/controllers/podgc/plan.ts';
import { namespaceCodec, nodeCodec, podCodec } from '../../src/kube/resources.ts';
import type { KubeTransport } from '../../src/kube/transport.ts';

/** What the cluster holds now and what the controller's own plan function says of it. */
export async function look(transport: KubeTransport, signal: AbortSignal): Promise<PodGcPlan> {
  const list = async (path: string): Promise<unknown[]> => {
    const { body } = await transport.send({ method: 'GET', path }, signal);
    return (JSON.parse(body.toString()) as { items: unknown[] }).items;
  };
  const [pods, nodes, namespaces, policies] = await Promise.all([
    list('/api/v1/pods'),
    list('/api/v1/nodes'),
    list('/api/v1/namespaces'),
    list('/apis/gc.dustpan.dev/v1alpha1/gcpolicies'),
  ]);
  const [readPod, readNode, readNamespace] = [podCodec(() => 'all'), nodeCodec(), namespaceCodec()];
  const set = new PolicySet();
  set.update(policies as Record<string, unknown>[]);
  return planPodGc(
    {
      pods: pods.map((pod) => readPod.fromJson(pod)),
      nodes: new Map(nodes.map((node) => readNode.fromJson(node)).map((node) => [node.name, node])),
      namespaces: new Map(
        namespaces.map((one) => readNamespace.fromJson(one)).map((one) => [one.name, one.labels]),
      ),
      jobsFinished: undefined,
      replicaSetOwners: new Map(),
      missingForMs: new Map(),
    },
    { policies: set.ranked, now: new Date() },
  );
}
