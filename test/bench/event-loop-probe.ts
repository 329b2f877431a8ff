import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Delays of an event loop, in milliseconds. */
export interface Delays {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Of the timer that is late when the loop stands still: a shorter one than dustpan's own, which sees only parts of what is shorter than 100 ms. */
const tickMs = 10;

/** A flag for Node that measures its event loop from within; a SIGUSR2 has it write what was since the one before. */
export function probeFlag(file: string): string {
  const script = `
    import { monitorEventLoopDelay } from 'node:perf_hooks';
    import { renameSync, writeFileSync } from 'node:fs';
    const delays = monitorEventLoopDelay({ resolution: ${tickMs} });
    delays.enable();
    process.on('SIGUSR2', () => {
      const ms = (ns) => Math.max(0, ns / 1e6 - ${tickMs});
      const of = (p) => ms(delays.percentile(p));
      const said = { samples: delays.count, p50Ms: of(50), p99Ms: of(99), p999Ms: of(99.9), maxMs: ms(delays.max) };
      delays.reset();
      writeFileSync('${file}.new', JSON.stringify(said));
      renameSync('${file}.new', '${file}');
    });`;
  return `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;
}

const patienceMs = 10_000;

/** What the probe measured since it was last asked; throws when the process does not answer. */
export async function takeDelays(pid: number, file: string): Promise<Delays> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const deadline = performance.now() + patienceMs;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error(`no answer of the probe in ${patienceMs} ms`);
    await sleep(20);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Delays;
}
