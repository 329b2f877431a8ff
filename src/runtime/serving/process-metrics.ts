import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

interface BuildInfo {
  readonly version: string;
  readonly revision: string;
}

/** Registers the default metrics of a process and of Node, and the build. */
export function registerProcessMetrics(registry: Registry, { version, revision }: BuildInfo): void {
  collectDefaultMetrics({ register: registry });
  const help = '[ALPHA] Version of this dustpan process, always 1.';
  const labelNames = ['version', 'revision', 'nodeversion'] as const;
  const info = new Gauge({ name: 'dustpan_build_info', help, labelNames, registers: [registry] });
  info.set({ version, revision, nodeversion: process.version }, 1);
}
