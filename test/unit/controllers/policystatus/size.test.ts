import { expect, test } from 'vitest';
import { rollUpNodes } from '../../../../src/controllers/policystatus/nodes.ts';
import { planStatus } from '../../../../src/controllers/policystatus/plan.ts';
import { type StatusFacts } from '../../../../src/controllers/policystatus/status.ts';
import { node, now, selectingAll } from '../../../builders.ts';
import { hostile, raw } from '../../../hostile.ts';
import { nodesPolicy, report } from './builders.ts';

/** Every agent watches the policies, so one status is sent to 5 000 nodes. */
const mostBytes = 8 * 1024;
const bytesOf = (facts: StatusFacts): number => Buffer.byteLength(JSON.stringify(planStatus(facts, now)));

const large = 2 ** 50;
const governing = nodesPolicy('default');
const names = Array.from({ length: 5_000 }, (_, i) => `node-${i}`);
const nodes = rollUpNodes(
  [governing],
  {
    nodes: names.map((name) => node(name)),
    reports: names.map((name) =>
      report(name, {
        degraded: true,
        imagesRemovable: large,
        imageBytesRemovable: large,
        containersRemovable: large,
      }),
    ),
  },
  now,
).get(governing.uid);
const pass = {
  ...{ at: now, governed: large, terminated: large, due: large, waiting: large, held: large },
  ...{ deleted: large, failed: large, clockUnsure: large, unverified: large, missingNodes: large },
  trippedPercent: 100 / 3,
  hold: { generation: large, since: now, held: { due: large, until: now } },
};
const before = { stored: undefined, report: undefined, deletedSince: large, nodes: undefined };

test('a status stays small when 5 000 nodes are degraded', () => {
  expect(nodes).toMatchObject({ desired: 5_000, degraded: 5_000 });
  expect(bytesOf({ ...before, policy: governing, report: pass, nodes })).toBeLessThan(mostBytes);
});

test('a status stays small when a policy has 5 MB of problems', () => {
  const problems = Array.from({ length: 50_000 }, (_, i) => `${i}: `.padEnd(100, 'x'));
  const broken = { name: 'broken', uid: 'uid-broken', generation: 1, priority: 0, problems, ...selectingAll };
  expect(bytesOf({ ...before, policy: broken })).toBeLessThan(mostBytes);
});

test('control characters in the name of a field are escaped', () => {
  const problems = [`spec.${hostile}: unknown field`];
  const broken = { name: 'broken', uid: 'uid-broken', generation: 1, priority: 0, problems, ...selectingAll };
  const { conditions } = planStatus({ ...before, policy: broken }, now);
  const accepted = conditions.find(({ type }) => type === 'Accepted')?.message ?? '';
  expect(accepted).toContain(String.raw`spec.a\u001b[2Jb\nERROR forged\u009b2J`);
  expect(accepted).not.toMatch(raw);
});
