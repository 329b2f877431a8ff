import { join } from 'node:path';
import { build } from './build.ts';
import { cacheFolder, findProgram } from './find.ts';
import { programsOf, type Part, type Program } from './parts.ts';

/** Finds or builds the programs of these parts; resolves with their files by name. */
export async function binaries(
  parts: readonly Part[],
  progress: (line: string) => void,
): Promise<Readonly<Record<string, string>>> {
  const bin: Record<string, string> = {};
  const missing: Program[] = [];
  for (const program of programsOf(parts)) {
    const found = findProgram(program, process.env, progress);
    if (found === undefined) missing.push(program);
    bin[program.name] = found ?? join(cacheFolder(program.group, process.env), 'bin', program.name);
  }
  for (const [group, programs] of Map.groupBy(missing, (program) => program.group))
    await build(group, programs, { env: process.env, progress });
  return bin;
}
