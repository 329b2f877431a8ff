import { readdirSync, readFileSync } from 'node:fs';

/** What of a process is in memory, in MiB. */
export interface Memory {
  readonly residentMiB: number;
  /** The most that was ever resident (VmHWM). */
  readonly peakMiB: number;
  /** Pages that no other process has. */
  readonly privateMiB: number;
}

const kibPerMiB = 1_024;
const nanosecondsPerSecond = 1e9;

/** Reads /proc of a process; throws when it is gone. */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const pages = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return {
    residentMiB: mebibytes(status, 'VmRSS'),
    peakMiB: mebibytes(status, 'VmHWM'),
    privateMiB: mebibytes(pages, 'Private_Clean') + mebibytes(pages, 'Private_Dirty'),
  };
}

const mebibytes = (text: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / kibPerMiB;

/** CPU time of all threads that live, as exact as the scheduler knows it. */
export function threadCpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + runtimeOf(`/proc/${pid}/task/${thread}/schedstat`), 0);
}

function runtimeOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / nanosecondsPerSecond;
  } catch {
    return 0; // the thread ended between two looks
  }
}
