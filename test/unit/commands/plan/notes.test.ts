import { expect, test } from 'vitest';
import { adviceOnNodes, notesOn } from '../../../../src/commands/plan/notes.ts';
import type { ThisNode } from '../../../../src/commands/cli/config.ts';
import { report as nodeReport } from '../../controllers/policystatus/builders.ts';
import { factsOf, nodesPolicy } from '../why/fixtures.ts';

const found = { podDirectories: [], logDirectories: [], podCgroups: [] };
const rule = { podCgroups: 'Remove', podDirectories: 'Report' } as const;

test.each([
  { name: 'a snapshot has none', orphans: rule, part: {}, isNoted: true },
  { name: 'they are known', orphans: rule, part: { orphans: found }, isNoted: false },
  { name: 'no policy has a rule for them', orphans: undefined, part: {}, isNoted: false },
])('orphaned resources that are not known are noted: $name', ({ orphans, part, isNoted }) => {
  const notes = notesOn(factsOf({ policies: [nodesPolicy({ orphans })], part }));
  const note = 'Node node-1: its orphaned resources are not known: none of them is removed.';
  expect(notes.includes(note)).toBe(isNoted);
});

const node = { name: 'node-1' } as ThisNode;

test.each<{ name: string; given: Parameters<typeof adviceOnNodes>[0]; advice: string }>([
  {
    name: 'of a cluster alone',
    given: { node: undefined, through: undefined },
    advice: ' To list the objects of a node, add --node NODE, or --nodes for all.',
  },
  {
    name: 'of some nodes',
    given: { node: undefined, through: ['node-1'] },
    advice: ' To list the objects of all nodes, use --nodes instead of --node.',
  },
  { name: 'of this node', given: { node, through: undefined }, advice: '' },
  { name: 'of all nodes', given: { node: undefined, through: 'all' }, advice: '' },
])('a plan $name: the note about reports advises only what is not given', ({ given, advice }) => {
  const facts = { ...factsOf({ policies: [nodesPolicy({})] }), reports: [nodeReport('node-2')] };
  expect(notesOn({ ...facts, moreNodes: adviceOnNodes(given) })).toEqual([
    `One node has only totals, from the reports of the agents.${advice}`,
  ]);
});
