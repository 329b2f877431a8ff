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
