import { describe, expect, test } from 'vitest';
import { changeAt, type Change } from '../../bench/churn-changes.ts';

const pods = 500;
const count = 10_000;
const changes = Array.from({ length: count }, (_, i) => changeAt(i, pods));
const countOf = (kind: Change['kind'], from = 0): number =>
  changes.slice(from).filter((change) => change.kind === kind).length;

describe('the sequence of changes', () => {
  test('leads each short-lived pod through its life, one step after the other', () => {
    const lives = new Map<number, string[]>();
    for (const change of changes)
      if ('born' in change) lives.set(change.born, [...(lives.get(change.born) ?? []), change.kind]);
    const life = ['create', 'bind', 'start', 'finish', 'delete'];
    expect([...lives.keys()]).toEqual(Array.from({ length: count / 10 }, (_, i) => i));
    for (const steps of lives.values()) expect(steps).toEqual(life.slice(0, steps.length));
    expect(lives.get(0)).toEqual(life);
  });

  test('has equally many short-lived pods all the time, after the first ones', () => {
    const alive = changes.map(
      (
        (now = 0) =>
        ({ kind }) =>
          (now += Number(kind === 'create') - Number(kind === 'delete'))
      )(),
    );
    expect(new Set(alive.slice(1_000))).toEqual(new Set([80, 81]));
  });

  test('leaves a second at 200 changes a second between two steps of a life', () => {
    const at = (kind: Change['kind']): number =>
      changes.findIndex((one) => one.kind === kind && 'born' in one && one.born === 0);
    expect(at('bind') - at('create')).toBeGreaterThanOrEqual(200);
  });

  test('marks no pod twice, and then none any more', () => {
    const marked = changes.flatMap((change) => (change.kind === 'keep' ? [change.pod] : []));
    expect(marked).toEqual(Array.from({ length: pods }, (_, i) => i));
  });

  test('changes lasting pods of the store only', () => {
    for (const change of changes) if ('pod' in change) expect(change.pod).toBeLessThan(pods);
  });

  test('is one tenth of each step of a life, three heartbeats', () => {
    const tenth = (count - 1_000) / 10;
    for (const kind of ['create', 'bind', 'start', 'finish', 'delete'] as const)
      expect(countOf(kind, 1_000)).toBe(tenth);
    expect(countOf('heartbeat', 1_000)).toBe(3 * tenth);
  });
});
