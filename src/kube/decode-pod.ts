import { lacksNothing, type AnyPod } from './decode-facts.ts';
import type { SharingReader } from './decode-reader.ts';
import { LeanPod, Pod } from './gen/core.ts';
import type { LabelKeys } from './objects.ts';

/** Decodes no more of a pod than its facts need: the whole of it only when it has a label that is kept, or its containers do not say when they ended. */
export function podDecoder(labelKeys: () => LabelKeys): (reader: SharingReader) => AnyPod {
  return (reader) => {
    const keys = labelKeys();
    if (keys === 'all') return Pod.decode(reader);
    const lean = LeanPod.decode(reader);
    return lacksNothing(lean, keys) ? lean : Pod.decode(reader.again());
  };
}
