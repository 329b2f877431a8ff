import { expect, test } from 'vitest';
import type { LeftoverFacts } from '../../../../src/agent/leftovers/facts.ts';
import { planLeftovers } from '../../../../src/agent/leftovers/plan.ts';
import type { Leftover } from '../../../../src/api/leftovers.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { keptBy } from '../builders.ts';
import { governed, removing } from './environment.ts';

const leftover = (over: Partial<Leftover> = {}): Leftover => ({
  ...{ kind: 'Download', id: 'lease 1', name: 'nginx', holder: 'lease 1', sinceMs: minutesAgo(90) },
  ...{ bytes: 5, isLowerBound: false, progress: 'same', obstacle: undefined },
  ...over,
});

interface Row {
  readonly name: string;
  readonly of?: Partial<Leftover>;
  readonly facts?: Partial<LeftoverFacts>;
  readonly governance?: ReturnType<typeof keptBy>;
  readonly off?: 'downloads' | 'leases' | 'snapshots';
  readonly assumeUnchanged?: boolean;
  readonly expected: string;
}

const jump = { untilMs: minutesAgo(60), ms: 45 * 60_000 };
const failedBefore = (retryInMs: number) => new Map([['lease 1', { times: 2, retryInMs }]]);

test.each<Row>([
  { name: 'an interrupted download', expected: 'InterruptedDownload' },
  { name: 'a lease', of: { kind: 'Lease' }, expected: 'UnusedLease' },
  { name: 'a snapshot', of: { kind: 'Snapshot' }, expected: 'Unreferenced' },
  { name: 'content', of: { kind: 'Content' }, expected: 'Unreferenced' },
  { name: 'without a policy', governance: keptBy('NoPolicy'), expected: 'NoPolicy' },
  { name: 'downloads are only reported', off: 'downloads', expected: 'RuleOff' },
  { name: 'other kinds are only reported', off: 'leases', expected: 'InterruptedDownload' },
  { name: 'leases are only reported', of: { kind: 'Lease' }, off: 'leases', expected: 'RuleOff' },
  { name: 'snapshots are only reported', of: { kind: 'Snapshot' }, off: 'snapshots', expected: 'RuleOff' },
  { name: 'content is only reported', of: { kind: 'Content' }, off: 'snapshots', expected: 'RuleOff' },
  { name: 'of another client', of: { obstacle: 'HeldByOther' }, expected: 'HeldByOther' },
  { name: 'perhaps of a sandbox', of: { obstacle: 'SandboxUnknown' }, expected: 'SandboxUnknown' },
  { name: 'of unknown age', of: { sinceMs: undefined }, expected: 'AgeUnknown' },
  { name: 'of unknown size', of: { progress: undefined }, expected: 'ProgressUnknown' },
  {
    name: 'of unknown size in both passes',
    of: { progress: undefined },
    facts: { before: new Map([['lease 1', undefined]]) },
    expected: 'ProgressUnknown',
  },
  { name: 'after a jump of the clock', facts: { clockUnsure: true }, expected: 'ClockUnsure' },
  {
    name: 'perhaps younger than an hour, because of a jump',
    facts: { jumps: [jump] },
    expected: 'ClockUnsure',
  },
  {
    name: 'an hour old in spite of a jump',
    of: { sinceMs: minutesAgo(110) },
    facts: { jumps: [jump] },
    expected: 'InterruptedDownload',
  },
  { name: 'seen once', facts: { before: new Map() }, expected: 'Quarantined' },
  { name: 'seen otherwise', facts: { before: new Map([['lease 1', 'other']]) }, expected: 'Quarantined' },
  {
    name: 'assumed unchanged',
    facts: { before: new Map() },
    assumeUnchanged: true,
    expected: 'InterruptedDownload',
  },
  { name: 'paused', facts: { failedBefore: failedBefore(1) }, expected: 'RemovalFailed' },
  { name: 'after its pause', facts: { failedBefore: failedBefore(0) }, expected: 'InterruptedDownload' },
])('$name: $expected', ({ of, facts, governance, off, assumeUnchanged = false, expected }) => {
  const by = governance ?? governed({ ...removing, ...(off && { [off]: 'Report' }) });
  const seen = { leftovers: [leftover(of)], before: new Map([['lease 1', 'same']]), ...facts };
  const { removals, kept } = planLeftovers(seen, { governance: by, now, assumeUnchanged });
  expect([...removals, ...kept].map(({ reason }) => reason)).toEqual([expected]);
});

test('a decision has what its reader needs; what is not known has none', () => {
  const facts = { leftovers: [leftover()], before: new Map([['lease 1', 'same']]) };
  const given = { governance: governed(removing), now };
  expect(planLeftovers(facts, given).removals).toMatchObject([
    { unit: 'leftovers', verdict: 'Remove', bytes: 5, policy: { name: given.governance.policy.name } },
  ]);
  const paused = planLeftovers({ ...facts, failedBefore: failedBefore(60_000) }, given);
  expect(paused.kept).toMatchObject([{ times: 2, eligibleAt: new Date(now.getTime() + 60_000) }]);
  expect(planLeftovers({ leftovers: undefined, before: new Map() }, given)).toEqual({
    removals: [],
    kept: [],
  });
});
