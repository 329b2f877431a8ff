import type { Cluster } from './cluster.ts';

type Kubectl = Pick<Cluster, 'run'>;

/** Runs kubectl as an administrator and returns its output; throws with its message when it fails. */
export async function kubectl(cluster: Kubectl, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('kubectl', args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

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
