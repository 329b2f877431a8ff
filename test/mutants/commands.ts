import type { MutantGroup } from './group.ts';

const filter = 'src/commands/plan/filter.ts';
const plan = 'src/commands/plan/plan.ts';
const selector = 'src/api/policy/selector-text.ts';
const lists = 'src/commands/snapshot/kinds.ts';
const directory = 'src/commands/snapshot/directory.ts';
const read = 'src/snapshot/directory.ts';
const removed = 'src/commands/why/removed.ts';
const target = 'src/commands/why/target.ts';
const command = 'src/commands/plan/command.ts';
const units = 'src/commands/plan/units.ts';

/** Which objects a command shows, and what a snapshot has. */
export const commandMutants: MutantGroup = {
  unit: 'commands',
  reasons: [],
  tests: [
    'test/unit/api/selector-text',
    'test/unit/commands/plan/',
    'test/unit/commands/why/',
    'test/unit/commands/snapshot/',
    'test/integration/commands/plan/snapshot',
  ],
  mutants: [
    [
      'reach: the pods of one namespace',
      filter,
      'pod.startsWith(`${namespace}/`)',
      'pod.startsWith(namespace)',
    ],
    [
      'reach: a namespace that does not exist',
      filter,
      'if (known.has(namespace) || hasPods(namespace, facts)) return;',
      'return;',
    ],
    ['reach: removals on one node', removed, '(question.node ?? name) === name', "name !== ''"],
    ['reach: what a removed directory contained', removed, 'isAtOrBelow(text, id)', 'text === id'],
    ['fact: a pod that the snapshot lacks may exist', target, ' && part.selector === undefined', ''],
    ['fact: hidden objects in one namespace', filter, "namespace === undefined ? '' : `${namespace}/`", "''"],
    ['reach: a socket of another node', command, 'isOwn ? node : undefined', 'node'],
    ['reach: labels and namespace', filter, ' && (namespace ?? pod.namespace) === pod.namespace', ''],
    [
      'reach: what belongs to no pod is not shown',
      filter,
      'pod !== undefined && isShown(pod)',
      "isShown(pod ?? 'a/')",
    ],
    ['count: kept objects of a filtered plan', plan, 'kept: kept || isShown !== undefined', 'kept'],
    [
      'reach: an unequal label',
      selector,
      "['NotIn', /^([^\\s=!()<>]+)\\s*!=",
      "['In', /^([^\\s=!()<>]+)\\s*!=",
    ],
    ['reach: a comma between values', selector, '/,(?![^()]*\\))/', "','"],
    ['reach: a key without a value', selector, "['Exists', ", "['DoesNotExist', "],
    ['memory: the time of a snapshot', plan, 'now ?? takenAt ?? clock.now()', 'now ?? clock.now()'],
    ['memory: a time in the future', read, 'now.getTime() + maxAheadMs', 'Infinity'],
    ['memory: a later time', plan, '.getTime() + laterMs', '.getTime()'],
    ['memory: --now precedes it', plan, 'now ?? takenAt ?? clock.now()', 'takenAt ?? now ?? clock.now()'],
    ['request: a part of the cluster has no reports', lists, "kind !== 'NodeGCReport'", 'true'],
    [
      'fact: a pod that a part leaves out',
      read,
      'part === undefined ? pods?.byNode.get(node) : undefined',
      'pods?.byNode.get(node)',
    ],
    ['reach: orphans in a part', units, '!assumeElapsed || facts.part !== undefined', '!assumeElapsed'],
    ['request: labels of pods alone', lists, "list.kind === 'Pod' && selector", 'selector'],
    ['request: jobs of the namespace', lists, "['Pod', 'Job', 'ReplicaSet']", "['Pod', 'ReplicaSet']"],
    [
      'path: the current directory is not replaced',
      directory,
      "way.split(on.sep)[0] !== '..'",
      "way !== '..'",
    ],
  ],
};
