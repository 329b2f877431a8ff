import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Agent } from './agent.ts';

/** A wall clock that a program of Node can be given in place of its own, and that can be set while it runs. */
export interface ShiftedClock {
  /** For Node: what it runs is not changed in any other way, and time as such goes on as ever. */
  readonly nodeFlags: readonly string[];
  /** By how many milliseconds it differs from the right one; resolves when the agent's log shows it. */
  set(agent: Pick<Agent, 'kill' | 'logs'>, offsetMs: number): Promise<void>;
}

const preload = (file: string): string => `
import { readFileSync } from 'node:fs';
const Right = Date;
let offsetMs = 0;
globalThis.Date = class Date extends Right {
  constructor(...given) {
    if (given.length === 0) super(Right.now() + offsetMs);
    else super(...given);
  }
  static now() {
    return Right.now() + offsetMs;
  }
};
process.on('SIGUSR2', () => {
  offsetMs = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
  console.log(JSON.stringify({ ts: new Date().toISOString(), level: 'info', msg: said(offsetMs) }));
});
const said = ${said.toString()};
`;

function said(offsetMs: number): string {
  return `the clock was set by ${offsetMs} ms`;
}

const pollMs = 20;

/** Its files go with the bed. */
export function shiftedClock(): ShiftedClock {
  const directory = mkdtempSync(join(tmpdir(), 'clock-'));
  const [module, file] = [join(directory, 'clock.mjs'), join(directory, 'offset')];
  writeFileSync(module, preload(file));
  return {
    nodeFlags: ['--import', pathToFileURL(module).href],
    set: async (agent, offsetMs) => {
      const timesSaid = async (): Promise<number> =>
        (await agent.logs()).filter(({ msg }) => msg === said(offsetMs)).length;
      const before = await timesSaid();
      writeFileSync(file, String(offsetMs));
      await agent.kill('SIGUSR2');
      while ((await timesSaid()) === before) await sleep(pollMs);
    },
  };
}
