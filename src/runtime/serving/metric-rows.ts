import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes metrics, one row each. All have the prefix of the product, and all are alpha. */
export function metricRows(registry: Registry) {
  const row = <L extends string>(name: string, help: string, labelNames: readonly L[]) => ({
    name: `dustpan_${name}`,
    help: `[ALPHA] ${help}`,
    labelNames,
    registers: [registry],
  });
  return {
    counter: <L extends string = never>(name: string, help: string, ...labels: L[]) =>
      new Counter<L>(row(name, help, labels)),
    gauge: <L extends string = never>(name: string, help: string, ...labels: L[]) =>
      new Gauge<L>(row(name, help, labels)),
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: readonly number[],
      ...labels: L[]
    ) => new Histogram<L>({ ...row(name, help, labels), buckets: [...buckets] }),
  };
}
