import type { Cluster } from './cluster.ts';
import { kubectl } from './kubectl.ts';

interface ClusterEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** The Events on objects of this kind, in the namespace `default`, where those on nodes are too. */
export async function eventsOn(cluster: Cluster, kind: string): Promise<readonly ClusterEvent[]> {
  const list = await kubectl(cluster, ['get', 'events.v1.events.k8s.io', '-n', 'default', '-o', 'json']);
  const { items } = JSON.parse(list) as { readonly items: readonly Partial<ClusterEvent>[] };
  // The API server leaves out an empty note.
  const events = items.map((event) => ({ note: '', ...event }) as ClusterEvent);
  return events.filter(({ regarding }) => regarding.kind === kind);
}
