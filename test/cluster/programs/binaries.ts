import { join } from 'node:path';
import { build } from './build.ts';
import { cacheFolder, findProgram, type Located } from './find.ts';
import { programsOf, type Group, type Part, type Program } from './parts.ts';

/** The file of each program, and its source. */
export interface Found {
  readonly bin: Readonly<Record<string, string>>;
  readonly from: Readonly<Record<string, Located['from'] | 'built'>>;
}

/** Finds or builds the programs of these parts, and prints the source of each. */
export async function binaries(parts: readonly Part[], progress: (line: string) => void): Promise<Found> {
  const bin: Record<string, string> = {};
  const from: Record<string, Located['from'] | 'built'> = {};
  const missing: Program[] = [];
  for (const program of programsOf(parts)) {
    const located = findProgram(program, process.env, progress);
    if (!located) missing.push(program);
    bin[program.name] = located?.path ?? join(cacheFolder(program.group, process.env), 'bin', program.name);
    from[program.name] = located?.from ?? 'built';
  }
  for (const [group, programs] of byGroup(missing))
    await build(group, programs, { env: process.env, progress });
  progress(`test bed: ${summary(from)}`);
  return { bin, from };
}

function byGroup(programs: readonly Program[]): ReadonlyMap<Group, readonly Program[]> {
  const groups = new Map<Group, Program[]>();
  for (const program of programs) groups.set(program.group, [...(groups.get(program.group) ?? []), program]);
  return groups;
}

function summary(from: Found['from']): string {
  const sources = [...new Set(Object.values(from))];
  const namesOf = (source: string): string => {
    const names = Object.keys(from).filter((name) => from[name] === source);
    return `${names.join(', ')} (${source})`;
  };
  return sources.map(namesOf).join('; ');
}
