import { Cursor } from './decode-cursor.ts';
import { isToldByEnds } from './decode-facts.ts';
import { RecentStrings, SharingReader } from './decode-reader.ts';
import { Pod } from './gen/core.ts';
import { LeanPod } from './lean-pod.ts';
import type { LabelKeys } from './objects.ts';
import { partsOf, type PodParts } from './pod-parts.ts';

/** Reads no more of a pod than its facts need: the whole of it only when it has a label that is kept, or its containers do not say when they ended. */
export function podDecoder(labelKeys: () => LabelKeys): (message: Buffer) => PodParts {
  const strings = new RecentStrings();
  const cursor = new Cursor(strings);
  return (message) => {
    const keys = labelKeys();
    const lean = keys === 'all' ? undefined : new LeanPod(keys).read(cursor, message);
    if (lean !== undefined && !lean.isLabelled && isToldByEnds(lean)) return lean;
    return partsOf(Pod.decode(new SharingReader(message, strings)));
  };
}
