import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandLine, say } from './bench-command.ts';
import { writeSection } from './report.ts';
import {
  disagreements,
  storageSection,
  type Cache,
  type StorageBenchResult,
  type StorageRound,
} from './storage-report.ts';
import { buildWalk, look, walkers, type Look, type Place, type Walker } from './storage-run.ts';
import { writeTree } from './storage-tree.ts';

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: '200000' },
    /** One to a pod. */
    volumes: { type: 'string', default: '100' },
    /** How often each looks; the middle one counts. */
    rounds: { type: 'string', default: '5' },
    /** As many rounds with the kernel's caches emptied before each look: of the whole machine, and only by root. */
    cold: { type: 'boolean', default: false },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const [files, volumes, rounds] = [options.files, options.volumes, options.rounds].map(Number);

const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-storage-'));
try {
  const result = await bench();
  const text = storageSection(result);
  process.stdout.write(`${text}\n`);
  if (options.json !== '')
    writeFileSync(options.json, `${JSON.stringify([...result.rounds], undefined, 2)}\n`);
  if (options.write) writeSection(text);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function bench(): Promise<StorageBenchResult> {
  if (!files || !volumes || !rounds) throw new Error('--files, --volumes and --rounds are numbers');
  say(`writing ${files} files into ${volumes} volumes`);
  const tree = writeTree(scratch, { files, pods: volumes });
  const place = { tree, program: await buildWalk(scratch), scratch };
  const measured = new Map<Cache, StorageRound[]>();
  // Nobody counts the first: it fills the caches.
  await lookAll('warm', place);
  for (const cache of options.cold ? (['warm', 'cold'] as const) : (['warm'] as const)) {
    const those: StorageRound[] = [];
    for (let i = 0; i < rounds; i++) those.push(await lookAll(cache, place));
    measured.set(cache, those);
  }
  const [du = ''] = execFileSync('du', ['--version'], { encoding: 'utf8' }).split('\n');
  return { command: commandLine('bench:storage'), loadBefore, files, volumes, du, rounds: measured };
}

async function lookAll(cache: Cache, place: Place): Promise<StorageRound> {
  const found: [Walker, Look][] = [];
  for (const walker of walkers) {
    if (cache === 'cold') emptyCaches();
    const one = await look(walker, place);
    say(
      `${cache}: ${walker}: ${one.wallSeconds.toFixed(2)} s, CPU ${one.cpuSeconds.toFixed(2)} s, ${one.peakMb.toFixed(1)} MB`,
    );
    found.push([walker, one]);
  }
  const round = Object.fromEntries(found) as StorageRound;
  const wrong = disagreements(round, place.tree.volumes);
  if (wrong.length > 0) throw new Error(`du and the walk disagree:\n${wrong.slice(0, 10).join('\n')}`);
  return round;
}

/** What was written goes to the disk first, or it would stay. */
function emptyCaches(): void {
  execFileSync('sync');
  writeFileSync('/proc/sys/vm/drop_caches', '3');
}
