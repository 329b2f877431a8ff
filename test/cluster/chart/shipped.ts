import { render, workload } from './chart.ts';

/** How the chart starts a program, with its own values. */
export interface Shipped {
  /** The environment variables that Node and the C library read. */
  readonly env: Readonly<Record<string, string>>;
  /** Node's flags. */
  readonly nodeFlags: readonly string[];
  /** The memory limit of the container. */
  readonly limitMiB: number;
}

/** The controller's, a Deployment, or the agent's, a DaemonSet. */
export async function shipped(kind: 'Deployment' | 'DaemonSet'): Promise<Shipped> {
  const [container] = workload(await render(), kind).spec.template.spec.containers;
  const variables = container.env.flatMap(({ name, value }) =>
    value !== undefined && /^(NODE_OPTIONS$|MALLOC_)/.test(name) ? [[name, value] as const] : [],
  );
  const [, mebibytes] = /^(\d+)Mi$/.exec(container.resources.limits.memory) ?? [];
  if (mebibytes === undefined) throw new Error('the memory limit of the chart is not in MiB');
  return {
    env: Object.fromEntries(variables),
    nodeFlags: (container.command ?? []).filter((word) => word.startsWith('--')),
    limitMiB: Number(mebibytes),
  };
}
