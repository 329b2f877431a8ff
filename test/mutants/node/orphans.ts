import type { MutantGroup } from '../group.ts';

const cgroup = 'src/node/storage/pod-cgroup.ts';
const directory = 'src/node/storage/pod-directory.ts';
const finder = 'src/node/storage/orphans-finder.ts';
const mounts = 'src/node/storage/mounts.ts';
const tree = 'src/node/logs/remove-tree.ts';

/** What is removed of pods that are gone, and what is never touched. */
export const nodeOrphanMutants: MutantGroup = {
  unit: 'node/orphans',
  reasons: [],
  tests: ['test/unit/node/orphans', 'test/unit/node/pod-'],
  mutants: [
    ['path: a mount below', finder, "if (hasMounts(path, mounts)) return 'Mounted';", ''],
    [
      'path: mounts that are not known',
      finder,
      "if (mount?.isPropagated !== true) return 'MountsUnknown';",
      '',
    ],
    ['path: a read-only mount', finder, "mount.isReadOnly ? 'ReadOnly' : undefined", 'undefined'],
    [
      'path: the mount at the removal',
      finder,
      "if (reason !== undefined) return { kind: 'keep', reason };",
      '',
    ],
    ['path: another directory', finder, 'if (dirname(path) !== root) throw', 'if (false) throw'],
    [
      'pace: sizes are measured seldom',
      finder,
      'before !== undefined && atMs - before',
      'false && atMs - before',
    ],
    ['pace: sizes are measured again', finder, 'atMs - before.atMs < measureEveryMs', 'true'],
    ['fact: a mount point itself', mounts, 'path === root || ', ''],
    ['fact: a namesake', mounts, 'path.startsWith(`${root}/`)', 'path.startsWith(root)'],
    ['fact: the mount on top', mounts, 'around.findLast(', 'around.find('],
    ['fact: a slave mount', mounts, '(shared|master):', '(shared):'],
    ['fact: a shared mount', mounts, '(shared|master):', '(master):'],
    ['fact: a read-only file system', mounts, '[options, superOptions]', '[options]'],
    ['path: files of other plugins', directory, '!isKubeletsFile(path)', 'false'],
    ['path: the hosts file', directory, ' && !isKubeletsFile(path)', ''],
    ['path: the plugins', directory, 'ownPlugins.has(second)', 'second !== undefined'],
    [
      'path: the directory of the containers',
      directory,
      "first === 'containers'\n    ? second === undefined",
      "first === 'containers'\n    ? false",
    ],
    ['path: deep trees', directory, 'path.length > maxForeignDepth || ', ''],
    ['path: many directories', directory, 'budget.left-- <= 0 || isForeign', 'isForeign'],
    ['path: checked before the first removal', directory, 'if (await hasForeignFiles(pod))', 'if (false)'],
    [
      'path: a mount that the table lacks',
      directory,
      "if (err instanceof MountCrossing) return 'Mounted';",
      '',
    ],
    [
      'pace: a part of a large directory',
      directory,
      "if (err instanceof BudgetSpent) return 'PacingLimit';",
      '',
    ],
    ['pace: no more files than allowed', tree, 'if (budget.left-- <= 0) throw new BudgetSpent();', ''],
    ['stop: a removal', tree, '    signal.throwIfAborted();\n', ''],
    ['count: freed bytes', tree, '? stat.size : 0', '? 0 : 0'],
    ['path: a process', cgroup, 'if (await hasProcesses(group)) return true;', ''],
    [
      'path: a process below',
      cgroup,
      '(await usedBelow(group, entry.name, { budget, depth: depth - 1 }))',
      'false',
    ],
    [
      'path: a process in another tree',
      cgroup,
      'return trees.map((one) => ({ tree: one, names }));',
      'return trees.slice(-1).map((one) => ({ tree: one, names }));',
    ],
    ['path: too many control groups', cgroup, 'depth === 0 || budget.left-- <= 0', 'depth === 0'],
    ['path: too deep control groups', cgroup, 'depth === 0 || budget', 'budget'],
    ['path: no control group', cgroup, 'return pids?.trim() !==', 'return (pids ?? "").trim() !=='],
    [
      'path: used before removed',
      cgroup,
      "if (await isCgroupInUse(root, path)) return { kind: 'keep', reason: 'InUse' };",
      '',
    ],
    ['path: not a control group of a pod', cgroup, 'names.length < 2', 'names.length < 0'],
    [
      'order: the deepest first',
      cgroup,
      'if (entry.isDirectory()) await removeGroup(group, entry.name, depth - 1);',
      'if (entry.isDirectory()) continue;',
    ],
  ],
};
