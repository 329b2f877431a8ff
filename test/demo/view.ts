import { PolicySet } from '../../src/api/policy/policy-set.ts';
import type { PodGcPlan } from '../../src/controllers/podgc/facts.ts';
import { noneSeen } from '../../src/controllers/podgc/finish.ts';
import { noneMissing } from '../../src/controllers/podgc/nodes.ts';
import { observe } from '../../src/controllers/podgc/observe.ts';
import { planPodGc } from '../../src/controllers/podgc/plan.ts';
import type { Identified } from '../../src/kube/cache/objects.ts';
import type { Store } from '../../src/kube/cache/reflector.ts';
import { namespaceCodec, nodeCodec, podCodec } from '../../src/kube/cache/resources.ts';
import type { KubeTransport } from '../../src/kube/http/transport.ts';

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
  const set = new PolicySet();
  set.update(policies as Record<string, unknown>[]);
  const [readPod, readNode, readNamespace] = [podCodec(() => 'all'), nodeCodec(), namespaceCodec()];
  const none = store<never>([]);
  const now = new Date();
  const { facts } = observe(
    {
      pods: store(pods.map((pod) => readPod.fromJson(pod))),
      nodes: store(nodes.map((node) => readNode.fromJson(node))),
      namespaces: store(namespaces.map((one) => readNamespace.fromJson(one))),
      jobs: () => none,
      replicaSets: () => none,
    },
    set.ranked,
    { missing: noneMissing, seenFinished: noneSeen, monotonicMs: 0, maxGapMs: Infinity, now },
  );
  return planPodGc(facts, { policies: set.ranked, now });
}

const store = <T extends Identified>(items: readonly T[]): Store<T> => ({
  items: new Map(items.map((item) => [item.uid, item])),
  synced: true,
});
