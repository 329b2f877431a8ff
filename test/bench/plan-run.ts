import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What one run of a command took. */
export interface Run {
  readonly wallSeconds: number;
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  /** The most that was ever resident. */
  readonly peakMb: number;
  readonly outputBytes: number;
  /** undefined = it ended with 0; else its last words. */
  readonly failure: string | undefined;
}

/** GNU time: small itself, so that the kernel's maximum, which begins with what the parent had resident, is the command's own. */
const meter = '/usr/bin/time';
const kibPerMb = 1_000_000 / 1_024;

/** Runs a command, its output into a file of `scratch`, and measures it. */
export async function runMeasured(command: readonly string[], scratch: string): Promise<Run> {
  const [usage = '', outFile = '', errFile = ''] = ['usage', 'out', 'err'].map((name) => join(scratch, name));
  const [out, err] = [openSync(outFile, 'w'), openSync(errFile, 'w')];
  const startedAt = performance.now();
  const child = spawn(meter, ['-o', usage, '-f', '%U %S %M', ...command], { stdio: ['ignore', out, err] });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (cause) => {
      reject(new Error(`running ${meter}`, { cause }));
    });
    child.on('close', resolve);
  });
  const wallSeconds = (performance.now() - startedAt) / 1_000;
  for (const fd of [out, err]) closeSync(fd);
  const failure = code === 0 ? undefined : lastWords(readFileSync(errFile, 'utf8'));
  return { wallSeconds, ...usageIn(usage), outputBytes: statSync(outFile).size, failure };
}

/** Before its figures it says when the command failed. */
function usageIn(file: string): Pick<Run, 'cpuSeconds' | 'peakMb'> {
  const [user = NaN, system = NaN, kib = NaN] = (readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  return { cpuSeconds: user + system, peakMb: kib / kibPerMb };
}

/** The line that says it, in whatever a crash prints. */
function lastWords(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /^\w*Error|^dustpan:|^FATAL/.test(line)) ?? lines.at(-1) ?? 'failed';
}
