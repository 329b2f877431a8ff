import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtMain } from './command.ts';
import { PartProcess } from './part-process.ts';
import { freePorts } from './ports.ts';
import { statusOf } from './probe.ts';
import { endedWithFile } from './started.ts';
import { promptly, waitUntil } from './waiting.ts';

interface DustpanProcessOptions {
  /** The log is `log/NAME.log` below `dir`. */
  readonly name: string;
  readonly dir: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A command that becomes Node, e.g. in mounts of its own. */
  readonly launcher?: readonly string[];
  readonly nodeArgs: readonly string[];
  /** Default: dist/main.js. */
  readonly main?: string | undefined;
  /** The command and its flags; later flags win. */
  readonly args: readonly string[];
}

export interface LogLine {
  readonly ts: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

interface Place {
  readonly logFile: string;
  /** Bytes that earlier processes wrote. */
  readonly logStart: number;
  readonly metricsUrl: string;
  readonly healthUrl: string;
}

const startTimeoutMs = 120_000;
const readyTimeoutMs = 120_000;
const stopTimeoutMs = 10_000;

/** Starts a built command; resolves as soon as it is alive. */
export async function startDustpanProcess({
  name,
  dir,
  env = {},
  launcher = [],
  nodeArgs,
  main = builtMain,
  args: [command = '', ...flags],
}: DustpanProcessOptions): Promise<DustpanProcess> {
  const [metrics = 0, health = 0] = await freePorts(2);
  const healthUrl = `http://127.0.0.1:${health}`;
  const logFile = join(dir, 'log', `${name}.log`);
  const process = new PartProcess({
    name,
    // Each program becomes the next one: one process, one pid.
    command: 'env',
    args: [
      ...Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      ...launcher,
      ...['node', ...nodeArgs, main, command],
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      ...flags,
    ],
    cwd: dir,
    logFile,
    isReady: async () => (await statusOf(`${healthUrl}/healthz`)) === 200,
  });
  const logStart = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  await process.start(startTimeoutMs);
  const metricsUrl = `http://127.0.0.1:${metrics}/metrics`;
  return endedWithFile(new DustpanProcess(process, { logFile, logStart, metricsUrl, healthUrl }));
}

/** The built controller or agent as a process of its own. */
export class DustpanProcess implements AsyncDisposable {
  readonly metricsUrl: string;
  readonly healthUrl: string;
  readonly #process: PartProcess;
  readonly #place: Place;

  constructor(process: PartProcess, place: Place) {
    this.metricsUrl = place.metricsUrl;
    this.healthUrl = place.healthUrl;
    this.#process = process;
    this.#place = place;
  }

  /** Throws when the process has ended. */
  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('the process has ended');
    return pid;
  }

  get isRunning(): boolean {
    return this.#process.pid !== undefined;
  }

  /** Every series by its name with labels as Prometheus writes them, e.g. `a_total{reason="space"}`. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    // A connection that is kept may be closed by the server while the next request is sent.
    const response = await fetch(this.metricsUrl, { headers: { connection: 'close' } });
    const lines = (await response.text()).split('\n');
    const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      samples.map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
    );
  }

  /** The value of one series; undefined when it does not exist. */
  async sample(series: string): Promise<number | undefined> {
    return (await this.metrics()).get(series);
  }

  /** The lines that this process has logged, without an incomplete last one and without Node's own. */
  async logs(): Promise<readonly LogLine[]> {
    const { logFile, logStart } = this.#place;
    const lines = (await readFile(logFile)).subarray(logStart).toString().split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }

  logTail(lines: number): Promise<string> {
    return this.#process.logTail(lines);
  }

  /** The HTTP status of a probe; undefined when there is no response. */
  probe(path: '/healthz' | '/readyz'): Promise<number | undefined> {
    return statusOf(`${this.healthUrl}${path}`);
  }

  /** Waits until /readyz returns 200. */
  async ready(): Promise<void> {
    const deadline = Date.now() + readyTimeoutMs;
    while ((await this.probe('/readyz')) !== 200) {
      if (Date.now() > deadline) throw new Error(`not ready:\n${await this.logTail(20)}`);
      await sleep(100);
    }
  }

  /** Sends a signal; waits for the end of the process after a signal that ends it. */
  kill(signal?: NodeJS.Signals): Promise<void> {
    return this.#process.kill(signal);
  }

  /** Ends the process as Kubernetes does: TERM, and KILL after 10 s. */
  async stop(): Promise<void> {
    const killer = setTimeout(() => void this.#process.kill('SIGKILL'), stopTimeoutMs);
    await this.#process.kill('SIGTERM');
    clearTimeout(killer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Waits until so many passes with these results have begun and ended after this call. */
export async function passesOf(
  program: DustpanProcess,
  loop: 'imagegc' | 'containergc' | 'podgc',
  count: number,
  results: readonly ('success' | 'waiting' | 'error')[] = ['success', 'waiting', 'error'],
): Promise<void> {
  const passes = async (): Promise<number> => {
    const metrics = await program.metrics();
    const counts = results.map((result) =>
      metrics.get(`dustpan_loop_passes_total{loop="${loop}",result="${result}"}`),
    );
    return counts.reduce<number>((sum, passed = 0) => sum + passed, 0);
  };
  // One may be under way.
  const expected = (await passes()) + count + 1;
  await waitUntil(`${count} passes of ${loop}`, async () => (await passes()) >= expected, promptly);
}
