import { containerReasons } from '../../src/gc/reasons/containers.ts';
import { imageReasons } from '../../src/gc/reasons/images.ts';
import { podReasons } from '../../src/gc/reasons/pods.ts';

const sentences = (
  meanings: Readonly<Record<string, { readonly meaning: string }>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(meanings).map(([reason, { meaning }]) => [reason, meaning]));

/** What the reason of a pod says, in a person's words. */
export const podMeaning = sentences(podReasons);

/** The same of what is on a node. */
export const nodeMeaning = { ...sentences(containerReasons), ...sentences(imageReasons) };
