import type { Cluster } from './cluster.ts';

type Kubectl = Pick<Cluster, 'run'>;

async function output(cluster: Kubectl, ...ran: Parameters<Kubectl['run']>): Promise<string> {
  const { code, stdout, stderr } = await cluster.run(...ran);
  if (code !== 0) throw new Error(`${ran[0]} ${ran[1].join(' ')}: ${`${stderr}${stdout}`.trim()}`);
  return stdout;
}

/** Runs kubectl as an administrator and returns its output; throws with its message when it fails. */
export const kubectl = (cluster: Kubectl, args: readonly string[], input?: string): Promise<string> =>
  output(cluster, 'kubectl', args, input);

/** The same with helm. */
export const helm = (cluster: Kubectl, ...args: readonly string[]): Promise<string> =>
  output(cluster, 'helm', args);

const listOf = (items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** Creates objects in this order. */
export async function create(cluster: Kubectl, ...objects: readonly object[]): Promise<void> {
  await kubectl(cluster, ['create', '-f', '-'], listOf(objects));
}

/** Creates or changes objects in this order; returns the output of kubectl. */
export async function apply(cluster: Kubectl, ...objects: readonly object[]): Promise<string> {
  return await kubectl(cluster, ['apply', '-f', '-'], listOf(objects));
}

/** The objects that `kubectl get` lists with these arguments. */
export async function listed<T>(cluster: Kubectl, ...what: readonly string[]): Promise<readonly T[]> {
  const list = await kubectl(cluster, ['get', ...what, '-o', 'json']);
  return (JSON.parse(list) as { readonly items: readonly T[] }).items;
}

interface ClusterEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** The Events on objects of this kind, in the namespace `default`, where those on nodes are too. */
export async function eventsOn(cluster: Kubectl, kind: string): Promise<readonly ClusterEvent[]> {
  const all = await listed<Partial<ClusterEvent>>(cluster, 'events.v1.events.k8s.io', '-n', 'default');
  // The API server leaves out an empty note.
  const events = all.map((event) => ({ note: '', ...event }) as ClusterEvent);
  return events.filter(({ regarding }) => regarding.kind === kind);
}
