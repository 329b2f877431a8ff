import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sum } from '../../runtime/sum.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import { counted, firstOf } from '../../gc/reasons/words.ts';
import type { Leftover, LeftoverKind } from '../../api/leftovers.ts';

/** Number of names per kind in the Event; the report lists more. */
const maxNamed = 2;

/** One Event on the Node about everything that containerd keeps for nobody. */
export function leftoversFound(node: ObjectRef, leftovers: readonly Leftover[]): EventSpec {
  const parts = Object.entries(nouns).flatMap(([kind, noun]) => {
    const found = leftovers.filter((one) => one.kind === kind);
    if (found.length === 0) return [];
    const size = sizeText(sum(found.map(({ bytes }) => bytes)));
    const names = firstOf(
      found.map(({ name }) => name),
      maxNamed,
    );
    return [`${counted(found.length, noun)}, ${size} (${names})`];
  });
  return {
    regarding: node,
    type: 'Warning',
    reason: 'RuntimeLeftovers',
    action: 'FindLeftovers',
    note: `containerd keeps for no image, container or sandbox: ${parts.join('; ')}. The NodeGCReport of the node lists more of them`,
    // Another number is another finding, not a repetition.
    occasion: parts.join(';'),
  };
}

const nouns: Readonly<Record<LeftoverKind, string>> = {
  Download: 'interrupted download',
  Lease: 'unused lease',
  Snapshot: 'unused writable snapshot',
  Content: 'unused content object',
};
