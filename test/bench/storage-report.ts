import { memoryEnvironment, memoryFlags } from '../../src/cli/agent-command.ts';
import { median } from './median.ts';
import { machine, table, thousands } from './report.ts';
import { walkers, type Look, type Walker } from './storage-run.ts';

export type Cache = 'warm' | 'cold';

/** One after the other on the same tree. */
export type StorageRound = Readonly<Record<Walker, Look>>;

/** Everything one run of the benchmark of local storage measured. */
export interface StorageBenchResult {
  readonly command: string;
  readonly loadBefore: number;
  readonly files: number;
  readonly volumes: number;
  readonly du: string;
  readonly rounds: ReadonlyMap<Cache, readonly StorageRound[]>;
}

/** Where the agent's walk and du tell different sizes, one line each; empty = they agree byte for byte. */
export function disagreements(round: StorageRound, volumes: readonly string[]): readonly string[] {
  const peer = round['du -s --block-size=1'].figures;
  return (['walk at its pace', 'walk without a pace'] as const).flatMap((walker) =>
    round[walker].figures.flatMap((bytes, i) =>
      bytes === peer[i] ? [] : [`${volumes[i] ?? ''}: ${walker} ${bytes}, du ${peer[i] ?? 'nothing'}`],
    ),
  );
}

/** The result as a section of docs/benchmarks.md. */
export function storageSection({ rounds, files, volumes, ...rest }: StorageBenchResult): string {
  const [first] = [...rounds.values()].flat();
  const sum = (walker: Walker): number => first?.[walker].figures.reduce((all, one) => all + one, 0) ?? NaN;
  const entries = thousands(sum('du -s --inodes'));
  const bytes = thousands(sum('du -s --block-size=1'));
  const count = Math.max(...[...rounds.values()].map(({ length }) => length));
  return [
    `## Local storage, ${thousands(files)} files in ${thousands(volumes)} volumes`,
    '',
    `\`${rest.command}\`: ${entries} inodes, ${bytes} bytes, of which the walk and du told the same of every volume. Medians of ${count} rounds, in each of which all look once; the ratio to du is the median of those within a round. ` +
      `${machine()}, Node ${process.version} with \`${memoryFlags}\` and \`${memoryEnvironment}\`, ${rest.du}; the machine had a load of ${rest.loadBefore.toFixed(1)} before.`,
    '',
    ...table(
      ['caches', '', 'time', 'of du', 'CPU', 'of du', 'memory, peak', 'main thread late, p99', 'longest'],
      [...rounds].flatMap(([cache, those]) => walkers.map((walker) => row(walker, cache, those))),
    ),
    '',
    ...details([...rounds.values()].flat()),
    '',
  ].join('\n');
}

const names: Readonly<Record<Walker, string>> = {
  'du -s --block-size=1': '`du -s --block-size=1`',
  'du -s --inodes': '`du -s --inodes`',
  'walk at its pace': "the agent's walk, at its pace in its thread",
  'walk without a pace': '… without a pace',
};

function row(walker: Walker, cache: Cache, rounds: readonly StorageRound[]): string[] {
  const of = (read: (look: Look) => number | undefined): number =>
    median(rounds.map((round) => read(round[walker]) ?? NaN));
  const ratio = (read: (look: Look) => number): string => {
    const ratios = rounds.map((round) => read(round[walker]) / read(round['du -s --block-size=1']));
    const middle = median(ratios);
    // A tree so small that du takes no time that could be seen.
    return Number.isFinite(middle) ? `${middle.toFixed(1)} ×` : '–';
  };
  return [
    cache,
    names[walker],
    `${of(({ wallSeconds }) => wallSeconds).toFixed(2)} s`,
    ratio(({ wallSeconds }) => wallSeconds),
    `${of(({ cpuSeconds }) => cpuSeconds).toFixed(2)} s`,
    ratio(({ cpuSeconds }) => cpuSeconds),
    `${of(({ peakMb }) => peakMb).toFixed(1)} MB`,
    ms(of(({ took }) => took?.lag?.p99Ms)),
    ms(of(({ took }) => took?.lag?.longestMs)),
  ];
}

function details(rounds: readonly StorageRound[]): string[] {
  const paced = rounds.flatMap((round) => round['walk at its pace'].took ?? []);
  const added = median(paced.map(({ peakMb, restMb }) => peakMb - restMb));
  const planMs = median(paced.map((took) => took.planMs ?? NaN));
  const times = (walker: Walker): string =>
    rounds.map((round) => round[walker].wallSeconds.toFixed(2)).join(', ');
  return [
    `- The thread and its walk add ${added.toFixed(1)} MB to the process. The plan of what was found, on the main thread: ${planMs.toFixed(1)} ms.`,
    ...walkers.map((walker) => `- ${names[walker]}, all rounds: ${times(walker)} s.`),
  ];
}

const ms = (value: number): string => (Number.isNaN(value) ? '' : `${value.toFixed(1)} ms`);
