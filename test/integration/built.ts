import { inject } from 'vitest';
import { RunningProcess } from './running-process.ts';

/** The command that all test files share. */
export const built = { main: inject('main') };

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The controller or an agent as a process, with its output. */
export class RunningDustpan extends RunningProcess {
  /** The lines of the log, in order; what Node itself prints is none. */
  get lines(): LogLine[] {
    const lines = this.stdout.split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }

  /** The messages of the log, in order. */
  get messages(): string[] {
    return this.lines.map(({ msg }) => msg);
  }

  /** The number of log lines with this message. */
  timesLogged(message: string): number {
    return this.messages.filter((one) => one === message).length;
  }

  /** The value of a series of /metrics, by its name with labels; undefined when there is none. */
  async sample(series: string): Promise<number | undefined> {
    const lines = (await this.page('metrics', '/metrics')).split('\n');
    const found = lines.find((line) => line.startsWith(`${series} `));
    return found === undefined ? undefined : Number(found.slice(series.length + 1));
  }

  /** Waits until so many passes of a loop have begun and ended after this call. */
  async passes(loop: string, count: number): Promise<void> {
    const series = ['success', 'waiting', 'error'].map(
      (result) => `dustpan_loop_passes_total{loop="${loop}",result="${result}"}`,
    );
    const passed = async (): Promise<number> => {
      const counts = await Promise.all(series.map((one) => this.sample(one)));
      return counts.reduce<number>((sum, one = 0) => sum + one, 0);
    };
    // One may be under way.
    const enough = (await passed()) + count + 1;
    await until(`${count} passes of ${loop} end`, async () => (await passed()) >= enough);
  }

  /** The body of a page of the health server or of the metrics server. */
  async page(server: 'health' | 'metrics', path: string): Promise<string> {
    await until('it serves', () => this.#address(server) !== '');
    const response = await fetch(`http://${this.#address(server)}${path}`);
    return response.text();
  }

  #address(server: 'health' | 'metrics'): string {
    const line = this.lines.find(({ msg }) => msg === 'serving metrics and health probes');
    const address = line?.[server];
    return typeof address === 'string' ? address : '';
  }
}

/** A controller with short passes. */
export class RunningController extends RunningDustpan {
  constructor(kubeconfig: string, args: readonly string[] = []) {
    const flags = [
      '--pod-gc-period=1s',
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=0',
    ];
    super([built.main, 'controller', `--kubeconfig=${kubeconfig}`, ...flags, ...args]);
  }
}

const patienceMs = 120_000;

/** Resolves when the condition holds; rejects with its description after two minutes. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still not so after ${patienceMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
