import { containerMeanings, imageMeanings } from '../../src/api/node-reason-meanings.ts';
import { podMeanings, type ReasonMeaning } from '../../src/api/reason-meanings.ts';

const sentences = (meanings: Readonly<Record<string, ReasonMeaning>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(meanings).map(([reason, { sentence }]) => [reason, sentence]));

/** What the reason of a pod says, in a person's words. */
export const podMeaning = sentences(podMeanings);

/** The same of what is on a node. */
export const nodeMeaning = { ...sentences(containerMeanings), ...sentences(imageMeanings) };
