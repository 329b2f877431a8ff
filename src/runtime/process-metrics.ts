import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { EventLoopLag } from './event-loop-lag.ts';

interface BuildInfo {
  readonly version: string;
  readonly revision: string;
}

interface ProcessMetricsOptions {
  readonly build: BuildInfo;
  readonly lag: Pick<EventLoopLag, 'takeP99Seconds'>;
}

/** Registers what is known of this process: the usual `process_*`, the few `nodejs_*` worth a series, and the build. */
export function registerProcessMetrics(registry: Registry, { build, lag }: ProcessMetricsOptions): void {
  registerCpu(registry);
  registerMemory(registry);
  registerFileDescriptors(registry);
  gauge(
    registry,
    { name: 'process_start_time_seconds', help: 'Start of the process, Unix time in seconds.' },
    () => Math.round(performance.timeOrigin / 1_000),
  );
  gauge(
    registry,
    {
      name: 'nodejs_eventloop_lag_p99_seconds',
      help: 'Event loop lag since the last scrape, 99th percentile.',
    },
    () => lag.takeP99Seconds(),
  );
  registerBuild(registry, build);
}

function registerCpu(registry: Registry): void {
  const cpuSeconds = {
    process_cpu_user_seconds_total: ({ user }: NodeJS.CpuUsage) => user / 1e6,
    process_cpu_system_seconds_total: ({ system }: NodeJS.CpuUsage) => system / 1e6,
    process_cpu_seconds_total: ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1e6,
  };
  for (const [name, seconds] of Object.entries(cpuSeconds)) {
    counter(registry, { name, help: 'CPU time of the process in seconds.' }, () =>
      seconds(process.cpuUsage()),
    );
  }
}

function registerMemory(registry: Registry): void {
  const resident = { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.' };
  gauge(registry, resident, () => process.memoryUsage.rss());
  const used = { name: 'nodejs_heap_size_used_bytes', help: 'JavaScript heap in use.' };
  gauge(registry, used, () => process.memoryUsage().heapUsed);
  const total = { name: 'nodejs_heap_size_total_bytes', help: 'JavaScript heap allocated.' };
  gauge(registry, total, () => process.memoryUsage().heapTotal);
  const external = { name: 'nodejs_external_memory_bytes', help: 'Memory of buffers outside the heap.' };
  gauge(registry, external, () => process.memoryUsage().external);
}

function registerFileDescriptors(registry: Registry): void {
  const open = { name: 'process_open_fds', help: 'Open file descriptors.' };
  if (openFileDescriptors() !== undefined) gauge(registry, open, openFileDescriptors);
  const max = maxFileDescriptors();
  if (max !== undefined)
    gauge(registry, { name: 'process_max_fds', help: 'Limit of open file descriptors.' }, () => max);
}

/** undefined where there is no /proc. */
function openFileDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

function maxFileDescriptors(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

function registerBuild(registry: Registry, { version, revision }: BuildInfo): void {
  const help = '[ALPHA] What runs here, always 1.';
  const labelNames = ['version', 'revision', 'nodeversion'] as const;
  const info = new Gauge({ name: 'dustpan_build_info', help, labelNames, registers: [registry] });
  info.set({ version, revision, nodeversion: process.version }, 1);
}

interface Named {
  readonly name: string;
  readonly help: string;
}

function gauge(registry: Registry, named: Named, read: () => number | undefined): void {
  new Gauge({
    ...named,
    registers: [registry],
    collect() {
      this.set(read() ?? NaN);
    },
  });
}

function counter(registry: Registry, named: Named, read: () => number): void {
  new Counter({
    ...named,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
