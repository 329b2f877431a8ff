import { dustpanUser } from '../cluster/controller/dustpan.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import { dustpanRemovals } from './logs.ts';
import type { Stage } from './stage.ts';

/** Compares the metrics of dustpan's processes with the lines that they have logged since their start. */
export async function countsDiffer(stage: Stage): Promise<readonly string[]> {
  const componentOf = new Map(Object.values(dustpanRemovals).map(({ series, by }) => [series, by]));
  const found = await Promise.all(
    [...componentOf].map(async ([series, component]) => {
      const process = stage.processes.get(component);
      if (process === undefined) return [`the ${component} does not run`];
      // A removal between the two reads counts for the second only.
      const before = await sumOf(process, series);
      const lines = (await process.logs()).filter(
        ({ msg }) => dustpanRemovals[msg]?.series === series,
      ).length;
      const after = await sumOf(process, series);
      return lines < before || lines > after
        ? [`${series} is ${after}, and the ${component} logged ${lines} such removals`]
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
