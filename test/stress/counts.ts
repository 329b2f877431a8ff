import { dustpanUser } from '../cluster/controller/dustpan.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import type { Stage } from './stage.ts';

/** A metric and the log lines that report the same removals. */
interface Pair {
  readonly component: 'agent' | 'controller';
  /** The beginning of its series. */
  readonly metric: string;
  readonly line: RegExp;
}

const pairs: readonly Pair[] = [
  { component: 'agent', metric: 'dustpan_image_garbage_collected_total', line: /^removed image$/ },
  {
    component: 'agent',
    metric: 'dustpan_removed_objects_total{unit="containergc"',
    line: /^removed (container|sandbox|log directory|log link|rotated log)$/,
  },
  { component: 'controller', metric: 'dustpan_removed_objects_total{unit="podgc"', line: /^deleted pod$/ },
  { component: 'controller', metric: 'dustpan_evictions_total', line: /^evicted pod$/ },
];

/** Compares the metrics of dustpan's processes with the lines that they have logged since their start. */
export async function countsDiffer(stage: Stage): Promise<readonly string[]> {
  const found = await Promise.all(
    pairs.map(async ({ component, metric, line }) => {
      const process = stage.processes.get(component);
      if (process === undefined) return [`the ${component} does not run`];
      // A removal between the two reads counts for the second only.
      const before = await sumOf(process, metric);
      const lines = (await process.logs()).filter(({ msg }) => line.test(msg)).length;
      const after = await sumOf(process, metric);
      return lines < before || lines > after
        ? [`${metric} is ${after}, and the ${component} logged ${lines} such removals`]
        : [];
    }),
  );
  return found.flat();
}

async function sumOf(process: DustpanProcess, metric: string): Promise<number> {
  const series = [...(await process.metrics())].filter(([name]) => name.startsWith(metric));
  return series.reduce((sum, [, value]) => sum + value, 0);
}

/** Compares the successful deletions and evictions of the controller in the audit log with those that it has logged; only a run without faults has them all. */
export async function deletionsDiffer({ cluster }: Stage, logged: number): Promise<readonly string[]> {
  const requests = await cluster.audit({ user: dustpanUser.name });
  const successful = requests.filter(
    ({ verb, objectRef, responseStatus }) =>
      objectRef?.resource === 'pods' &&
      (verb === 'delete' || (verb === 'create' && objectRef.subresource === 'eviction')) &&
      (responseStatus?.code ?? 0) < 300,
  ).length;
  return successful === logged
    ? []
    : [
        `the API server granted the controller ${successful} deletions and evictions of pods, and the controller logged ${logged}`,
      ];
}
