import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dustpan } from './dustpan.ts';

/** The wall clock of one process, which can be set while it runs; how long things take it does not touch. */
export interface ShiftedClock {
  /** For Node: they make the program's clock this one. */
  readonly nodeArgs: readonly string[];
  /** Makes it differ from the true time by so much. */
  set(dustpan: Dustpan, shiftMs: number): Promise<void>;
}

const program = (file: string): string => `
import { readFileSync } from 'node:fs';
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
  shiftMs = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
});
`;

/** Keeps its files in a new folder of this one. */
export function shiftedClock(dir: string): ShiftedClock {
  const folder = join(dir, 'clock');
  mkdirSync(folder);
  const [shift, preload] = [join(folder, 'shift'), join(folder, 'preload.mjs')];
  writeFileSync(preload, program(shift));
  return {
    nodeArgs: [`--import=${preload}`],
    set: async (dustpan, shiftMs) => {
      writeFileSync(shift, String(shiftMs));
      await dustpan.kill('SIGUSR2');
    },
  };
}
