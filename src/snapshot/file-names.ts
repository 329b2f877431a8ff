import { join } from 'node:path';
import { kinds } from './kube-objects.ts';

/** The files that a snapshot has for the whole cluster, without extension. */
export const clusterFiles: readonly string[] = [...Object.keys(kinds), 'pods', 'policies', 'wantedimages'];

/** The files of a node, in the folder `nodes/NODE`, without extension. */
export const nodeFiles: readonly string[] = [
  'images',
  'imagespace',
  'containers',
  'sandboxes',
  'info',
  'imagefs',
  'stats',
  'devices',
  'state',
  'logs',
  'loglisting',
  'orphans',
  'checkpoints',
  'leftovers',
];

/** A note for each file in a folder that looks like an input and is not read; `here` has the inputs of this folder. */
export const unreadNotes = (
  folder: string,
  files: readonly string[],
  here: readonly string[],
): readonly string[] =>
  files.flatMap((file) => {
    const [name = '', ...extensions] = file.toLowerCase().split('.');
    if (extensions.length === 0) return [];
    const note = (what: string): readonly string[] => [`${join(folder, file)} is not read: ${what}.`];
    const names = [`${name}.json`, `${name}.yaml`];
    if (here.includes(name))
      return names.includes(file) ? [] : note(`its name must be ${names.join(' or ')}`);
    if (clusterFiles.includes(name)) return note('it must be in the folder of the snapshot');
    return nodeFiles.includes(name) ? note('it must be in the folder of a node, nodes/NODE') : [];
  });
