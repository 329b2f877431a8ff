import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The wall clock of one process, which a test can set; the monotonic clock does not change. */
export interface ShiftedClock {
  /** Node flags that make the program use this clock. */
  readonly nodeArgs: readonly string[];
  /** Makes it differ from the true time by so many milliseconds; resolves when it does. */
  set(program: { kill(signal: NodeJS.Signals): Promise<void> }, shiftMs: number): Promise<void>;
}

const preload = (wanted: string, shown: string): string => `
import { readFileSync, writeFileSync } from 'node:fs';
const True = Date;
let shiftMs = 0;
globalThis.Date = class Date extends True {
  constructor(...given) {
    if (given.length === 0) super(True.now() + shiftMs);
    else super(...given);
  }
  static now() {
    return True.now() + shiftMs;
  }
};
process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(${JSON.stringify(wanted)}, 'utf8'));
  writeFileSync(${JSON.stringify(shown)}, String(shiftMs));
});
`;

const pollMs = 20;
const patienceMs = 60_000;

/** Keeps its files in a new folder of this one. */
export function shiftedClock(dir: string): ShiftedClock {
  const folder = join(dir, 'clock');
  mkdirSync(folder);
  const [wanted, shown, module] = [
    join(folder, 'wanted'),
    join(folder, 'shown'),
    join(folder, 'preload.mjs'),
  ];
  writeFileSync(module, preload(wanted, shown));
  return {
    nodeArgs: [`--import=${module}`],
    set: async (program, shiftMs) => {
      writeFileSync(wanted, String(shiftMs));
      writeFileSync(shown, '');
      await program.kill('SIGUSR2');
      const deadline = performance.now() + patienceMs;
      while (readFileSync(shown, 'utf8') !== String(shiftMs)) {
        if (performance.now() > deadline) throw new Error('the program does not take the time it is told');
        await sleep(pollMs);
      }
    },
  };
}
