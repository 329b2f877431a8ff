import { hasStorageRule } from '../../api/policy/matching.ts';
import { isInvalid } from '../../api/policy/policy.ts';
import type { NodePart, World } from '../../snapshot/world.ts';

/** What is not known, and what follows from that; one sentence each. */
export function notesOn(world: World): readonly string[] {
  const spoken = spokenOf(world);
  return [
    ...policyNotes(world),
    ...clusterNotes(world),
    ...world.parts.flatMap((part) => partNotes(part, spoken)),
    ...reportNotes(world),
    ...world.notes,
  ];
}

function policyNotes({ policies }: World): readonly string[] {
  if (policies === undefined) return ['No policies are known: nothing would be removed.'];
  if (policies.length === 0) return ['There is no GCPolicy: nothing would be removed.'];
  return policies.flatMap((policy) =>
    isInvalid(policy)
      ? [`GCPolicy ${policy.name} is invalid and keeps all it may govern: ${policy.problems[0] ?? ''}`]
      : [],
  );
}

function clusterNotes({ pods, nodes, namespaces }: World): readonly string[] {
  return [
    ...(pods === undefined ? ['Pods are not known: no pod is deleted or gone, and no image goes.'] : []),
    ...(nodes === undefined
      ? [
          'Nodes are not known: no pod is an orphan, no node is touched, and keep labels of nodes are not seen.',
        ]
      : []),
    ...(namespaces === undefined ? ['Namespaces are not known: every pod stays.'] : []),
  ];
}

function reportNotes(world: World): readonly string[] {
  const count = world.reports.length;
  if (count === 0) return [];
  return [
    `${count === 1 ? 'One node is' : `${count} nodes are`} only summed up, from the reports of the agents: what goes there is listed by --cri-socket on the node.`,
  ];
}

/** Only what some policy speaks of is worth a word. */
function partNotes(part: NodePart, { images, containers, localStorage }: Spoken): readonly string[] {
  const { name } = part;
  const consequences = [
    ['images', part.images, images, 'nothing is said of them'],
    ['containers', part.containers, images || containers, 'no image, sandbox or log directory goes'],
    ['sandboxes', part.sandboxes, containers, 'no container, sandbox or log directory goes'],
    ['logs', part.logs, containers, 'nothing is said of them'],
    ['disk', part.disk, images, 'no image goes for space'],
  ] as const;
  const lists = consequences.flatMap(([what, value, matters, consequence]) =>
    value === undefined && matters
      ? [`Node ${name}: its ${what} ${what === 'disk' ? 'is' : 'are'} not known: ${consequence}.`]
      : [],
  );
  const isUsageMissed = localStorage && part.usage === undefined;
  const unknown = isUsageMissed
    ? [...lists, `Node ${name}: what its pods use is not known: none is evicted or warned about.`]
    : lists;
  const isForgetful = images && part.state.images.size === 0 && (part.images?.length ?? 0) > 0;
  return isForgetful
    ? [...unknown, `Node ${name}: when its images were used is not known: all count as new.`]
    : unknown;
}

interface Spoken {
  readonly images: boolean;
  readonly containers: boolean;
  readonly localStorage: boolean;
}

function spokenOf({ policies = [] }: World): Spoken {
  const nodes = policies.flatMap((policy) => (isInvalid(policy) ? [] : (policy.nodes ?? [])));
  return {
    images: nodes.some(({ imageGC }) => imageGC !== undefined),
    containers: nodes.some(({ containerGC }) => containerGC !== undefined),
    localStorage: hasStorageRule(policies),
  };
}
