import { expect, test } from 'vitest';
import { notesOn } from '../../../../src/commands/plan/notes.ts';
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
