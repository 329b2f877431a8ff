import { existsSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inLanes, type Job } from '../../cluster/lanes.ts';

/** Prints its name and ends as told. */
const job = (name: string, end: number | Error): Job => ({
  name,
  run: async (output) => {
    await Promise.resolve();
    if (output !== undefined) writeSync(output, `${name} prints\n`);
    if (end instanceof Error) throw end;
    return end;
  },
});

async function seen(jobs: readonly Job[]): Promise<{ code: number; lines: string[]; dirs: string[] }> {
  const lines: string[] = [];
  const dirs: string[] = [];
  const code = await inLanes(jobs, {
    say: (line) => lines.push(line.replace(/, [\d.]+ min/, '')),
    show: (file) => {
      lines.push(readFileSync(file, 'utf8').trim());
      dirs.push(dirname(file));
      return Promise.resolve();
    },
  });
  return { code, lines, dirs };
}

describe('jobs in lanes', () => {
  test('what each prints is shown whole when it ends, and nothing twice when all is well', async () => {
    const { code, lines, dirs } = await seen([job('a', 0), job('b', 0), job('c', 0)]);
    expect(code).toBe(0);
    expect(lines.toSorted()).toEqual([
      'a prints',
      'b prints',
      'c prints',
      'test bed: 1 of 3 done',
      'test bed: 2 of 3 done',
      'test bed: 3 of 3 done',
      'test bed: a begins',
      'test bed: b begins',
      'test bed: c begins',
    ]);
    expect(dirs.filter((dir) => existsSync(dir))).toEqual([]);
  });

  test('what fails is the result, and is told again at the end', async () => {
    const { code, lines } = await seen([job('a', 0), job('b', 3), job('c', 0), job('d', 4)]);
    expect(code).toBe(3);
    expect(lines.slice(-5)).toEqual([
      'test bed: b failed, and this is what it printed:',
      'b prints',
      'test bed: d failed, and this is what it printed:',
      'd prints',
      'test bed: 2 failed: b, d',
    ]);
  });

  test('one that throws has failed, with what it had printed; the others go on', async () => {
    const { code, lines } = await seen([job('a', new Error('no such program')), job('b', 0), job('c', 0)]);
    expect(code).toBe(1);
    expect(lines).toContain('c prints');
    expect(lines.at(-2)).toMatch(/^a prints\ntest bed: Error: no such program/);
    expect(lines.at(-1)).toBe('test bed: 1 failed: a');
  });

  test('after the end of one by a signal none begins, and no failure is told again', async () => {
    const { code, lines } = await seen([job('a', 130), job('b', 3), job('c', 0)]);
    expect(code).toBe(130);
    expect(lines).not.toContain('test bed: c begins');
    expect(lines.filter((line) => line === 'b prints')).toHaveLength(1);
  });
});
