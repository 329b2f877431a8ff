import type { KeptLeftover } from '../../../../src/agent/leftovers/facts.ts';
import { explainLeftover } from '../../../../src/agent/leftovers/words.ts';
import type { Leftover } from '../../../../src/api/leftovers.ts';
import type { LeftoversPolicy } from '../../../../src/api/policy/policy.ts';
import {
  leftoverKeepReasons,
  leftoverRemoveReasons,
  type LeftoverKeepReason,
  type LeftoverRemoveReason,
} from '../../../../src/api/reasons.ts';
import { minutesAgo, policy } from '../../../builders.ts';
import { removing } from '../../agent/leftovers/environment.ts';
import { nodesPolicy, type Facts } from '../facts.ts';
import { actedCases, casesOf, explained, testReasons, type Cases, type NodeWide } from './catalogue.ts';

const leftover = (over: Partial<Leftover> = {}): Leftover => ({
  ...{ kind: 'Download', id: 'lease 1-a', name: 'docker.io/library/nginx', holder: 'lease 1-a' },
  ...{ sinceMs: minutesAgo(90), bytes: 5_000_000, isLowerBound: false, progress: 'p', obstacle: undefined },
  ...over,
});

interface Case extends Facts {
  readonly ask: string;
}

const asked = (over: Partial<Leftover> = {}, leftovers: LeftoversPolicy = removing): Case => {
  const one = leftover(over);
  return {
    ask: one.id,
    policies: [nodesPolicy({ leftovers })],
    part: { leftovers: [one] },
    assumeElapsed: true,
  };
};

type Acted = 'InUse' | 'RemovalFailed' | 'ClockUnsure';
const cases: Cases<
  LeftoverRemoveReason | Exclude<LeftoverKeepReason, Acted | NodeWide | 'KeepMarked'>,
  Case
> = {
  InterruptedDownload: { 'by a lease': asked() },
  UnusedLease: { 'of nobody': asked({ kind: 'Lease' }) },
  Unreferenced: {
    'a snapshot': asked({ kind: 'Snapshot', id: 'snapshot overlayfs/k', name: 'k', holder: 'nothing' }),
    'all that nothing refers to': asked({
      kind: 'Content',
      id: 'unreferenced',
      name: 'unreferenced',
      holder: 'nothing',
    }),
  },
  RuleOff: { 'downloads are only reported': asked({}, { ...removing, downloads: 'Report' }) },
  HeldByOther: {
    'by a label': asked({
      ...{ kind: 'Snapshot', id: 'snapshot overlayfs/k', name: 'k' },
      ...{ holder: 'label containerd.io/gc.root', obstacle: 'HeldByOther' },
    }),
  },
  SandboxUnknown: { 'a lease': asked({ kind: 'Lease', obstacle: 'SandboxUnknown' }) },
  AgeUnknown: { 'a download': asked({ sinceMs: undefined }) },
  ProgressUnknown: { 'a download': asked({ progress: undefined }) },
  Quarantined: { 'the first pass': { ...asked(), assumeElapsed: false } },
};

const acted = (reason: Acted): KeptLeftover => ({
  ...{ unit: 'leftovers', verdict: 'Keep', reason, policy: policy(), eligibleAt: undefined, bytes: 1 },
  target: { kind: 'Leftover', id: 'lease 1-a', name: 'nginx', leftover: leftover() },
  ...(reason === 'RemovalFailed' && { times: 2 }),
});

testReasons(
  'leftovers',
  [...leftoverRemoveReasons, ...leftoverKeepReasons, 'RuleOff'],
  [
    ...casesOf(cases, ({ ask, ...facts }) =>
      explained({ kind: 'container', text: ask, node: undefined }, facts),
    ),
    ...actedCases(
      (['InUse', 'RemovalFailed', 'ClockUnsure'] as const).map((reason) => {
        const decision = acted(reason);
        return [decision, explainLeftover(decision)] as const;
      }),
    ),
  ],
);
