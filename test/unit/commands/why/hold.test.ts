import { expect, test } from 'vitest';
import { heldImagesText, holdText } from '../../../../src/gc/reasons/hold-words.ts';

const policy = { name: 'web', generation: 7 };
const commands =
  'To go on now: kubectl annotate gcpolicy web --overwrite gc.dustpan.dev/skip-hold=7. ' +
  `To take it back: kubectl patch gcpolicy web --type=merge -p '{"spec":{"mode":"DryRun"}}'`;

test.each([
  { name: 'in whole seconds', until: '2026-01-15T12:05:00Z' },
  { name: 'with a fraction, which the status does not have', until: '2026-01-15T12:05:00.351Z' },
])('a hold has its end, and both commands: $name', ({ until: text }) => {
  const until = new Date(text);
  const waits = `dustpan waits until 2026-01-15T12:05:00Z. ${commands}`;
  expect(holdText(policy, 'delete 8 of 8 pods', until)).toBe(
    `Generation 7 would delete 8 of 8 pods; ${waits}`,
  );
  expect(heldImagesText(policy, { due: 4, unused: 5, until })).toBe(
    `Generation 7 would remove 4 of 5 unused images of this node; ${waits}`,
  );
});
