import { hasCapacity } from '../../agent/imagegc/disk.ts';
import { distinctImages, imageOf } from '../../agent/imagegc/uses.ts';
import { isRepository, patternsThatSelectNone } from '../../api/image-reference.ts';
import { firstValues } from '../../api/report/fresh.ts';
import { reasonDoubts } from '../../api/policy/reason-doubts.ts';
import { podReason } from '../../api/policy/ttl-rules.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import { neededOwners, needsUsageOf, shadowedBy } from '../../api/policy/matching.ts';
import { nodeGovernance, nodeRule } from '../../api/policy/node-governance.ts';
import { isFinished } from '../../api/pod-phase.ts';
import {
  hasEnded,
  invalidPolicyText,
  isInvalid,
  type HoldRule,
  type Policy,
} from '../../api/policy/policy.ts';
import { holdLeftMs, type HoldCounts } from '../../gc/hold.ts';
import { aboveText, holdText } from '../../gc/reasons/hold-words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sum } from '../../runtime/sum.ts';
import { byText } from '../../runtime/text/by-text.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import { unmatchedNames, unmatchedPatterns, unmatchedSelectors } from '../../api/policy/unmatched.ts';
import { byName, type NodePart, type PlanFacts } from '../../snapshot/plan-facts.ts';
import { hasTtl } from '../../controllers/podgc/ttl.ts';
import { counted, firstOf, noImageText } from '../../gc/reasons/words.ts';
import type { PlanDocument } from './document.ts';
import type { PlanInputs } from './inputs.ts';

/** What is not known, and the consequence; one sentence each. `concerns`: whether entries of this policy matter to the reader. */
export function notesOn(
  facts: PlanFacts,
  now: Date,
  concerns: (policy: Pick<Policy, 'name'>) => boolean,
): readonly string[] {
  const rules = rulesOf(facts);
  const concerned = { ...facts, policies: facts.policies?.filter(concerns) };
  return [
    ...policyNotes(facts),
    ...clusterNotes(facts),
    ...selectorNotes(concerned),
    ...patternNotes(concerned, now),
    ...reasonNotes(concerned),
    ...finishNotes(facts),
    ...nodeNotes(facts, rules),
    ...unreadNotes(facts),
    ...reportNotes(facts),
    ...facts.notes,
  ];
}

function policyNotes({ policies }: PlanFacts): readonly string[] {
  if (policies === undefined)
    return [
      'The policies are not known, so neither is what would be removed. To plan with a policy, add --policy FILE.',
    ];
  if (policies.length === 0) return ['There is no GCPolicy: nothing would be removed.'];
  const valid = policies.filter((policy): policy is Policy => !isInvalid(policy));
  return policies.flatMap((policy) => {
    if (isInvalid(policy))
      return [
        invalidPolicyText({ ...policy, problems: policy.problems.slice(0, 1) }, `GCPolicy ${policy.name}`),
      ];
    const names = shadowedBy(policy, valid.slice(0, valid.indexOf(policy)));
    return names.length === 0
      ? []
      : [
          `GCPolicy ${policy.name} governs nothing: GCPolicy ${names.join(' and ')} has a higher rank and selects everything. Only one policy governs an object.`,
        ];
  });
}

/** The owners that decide about pods of these policies. The controller keeps pods whose owners it may not list. */
export const decidingOwners = (
  { isBlindToOwners }: Pick<PlanFacts, 'isBlindToOwners'>,
  policies: NonNullable<PlanFacts['policies']>,
): ReturnType<typeof neededOwners> =>
  isBlindToOwners === true ? { jobs: false, replicaSets: false } : neededOwners(policies);

function clusterNotes(facts: PlanFacts): readonly string[] {
  const { policies = [], pods, nodes, namespaces, jobs, replicaSets } = facts;
  const needed = decidingOwners(facts, policies);
  const consequences = [
    ['Pods', pods, 'no pod is deleted or counts as gone, and no image is removed'],
    [
      'Nodes',
      nodes,
      'no pod counts as orphaned, nothing on a node is removed, and keep labels of nodes have no effect',
    ],
    ['Namespaces', namespaces, 'every pod is kept'],
    ['Jobs', needed.jobs ? jobs : [], 'pods whose deletion depends on them are kept'],
    ['ReplicaSets', needed.replicaSets ? replicaSets : [], 'pods whose deletion depends on them are kept'],
  ] as const;
  return consequences.flatMap(([what, value, consequence]) =>
    value === undefined ? [`${what} are not known: ${consequence}.`] : [],
  );
}

/** Reasons of pods.terminated.ttlByReason that no finished pod can have, or that are probably misspelt. One that a pod has is correct, whatever it is, so only with all pods is a similar one named. */
function reasonNotes({ policies = [], pods, part }: PlanFacts): readonly string[] {
  const found = new Set(
    [...(pods?.values() ?? [])]
      .filter(isFinished)
      .flatMap((pod) => [podReason(pod), ...pod.ends.map(({ reason }) => reason)]),
  );
  const areAllKnown = pods !== undefined && part === undefined;
  return policies.flatMap((policy) =>
    reasonDoubts(policy)
      .filter(({ reason, isCertain }) => (isCertain || areAllKnown) && ![...found].some(globMatcher(reason)))
      .map(({ entry, advice }) => `GCPolicy ${policy.name}: ${entry} matches no finished pod; ${advice}`),
  );
}

/** Finished pods whose ttl the controller may count from an earlier time than this plan. */
function finishNotes({ policies = [], pods }: PlanFacts): readonly string[] {
  const hasRule = policies.some(
    (policy) => !isInvalid(policy) && policy.pods?.terminated && hasTtl(policy.pods.terminated),
  );
  const unknown = [...(pods?.values() ?? [])].filter(
    (pod) => isFinished(pod) && (pod.finishedAtMs ?? pod.finishedByMs) === undefined,
  );
  return unknown.length === 0 || !hasRule
    ? []
    : [
        `${counted(unknown.length, 'finished pod')} without a finish time, in status and managedFields: this plan counts the ttl from now, the controller from its first observation, so it may delete earlier. kubectl leaves managedFields out, except with --show-managed-fields.`,
      ];
}

/** Selectors of a policy that select nothing: spelling mistakes, most often. */
function selectorNotes({ policies = [], part, nodes, namespaces, pods }: PlanFacts): readonly string[] {
  const isWhole = part === undefined;
  const cluster = {
    nodes: nodes && [...nodes.values()],
    namespaces: isWhole && namespaces !== undefined ? [...namespaces.values()] : undefined,
    pods: isWhole && pods !== undefined ? [...pods.values()] : undefined,
  };
  return policies.flatMap((policy) =>
    isInvalid(policy)
      ? []
      : [
          ...unmatchedSelectors(policy, cluster).map(
            ({ field, selects }) => `GCPolicy ${policy.name}: ${field} selects ${selects}: check its labels.`,
          ),
          ...unmatchedNames(policy, cluster.namespaces).map(({ field, entries }) => {
            const names = entries.map((entry) => JSON.stringify(entry));
            return `GCPolicy ${policy.name}: no namespace matches ${firstOf(names, maxNames)} of ${field}.`;
          }),
        ],
  );
}

/** Image patterns of a policy that match no image on the nodes that it governs, as far as these were read: spelling mistakes, or no longer needed. */
function patternNotes({ policies, nodes, parts }: PlanFacts, now: Date): readonly string[] {
  const known = nodes && byName(nodes);
  const governanceOf = nodeGovernance(policies);
  const ruled = parts.flatMap(({ name, images = [] }) => {
    const governed = nodeRule(governanceOf(known?.get(name)), 'imageGC');
    return governed.kind === 'keep' || images.length === 0 ? [] : [{ ...governed, images }];
  });
  return [...Map.groupBy(ruled, ({ rule }) => rule)].flatMap(([rule, ofRule]) => {
    const images = distinctImages(ofRule.flatMap((part) => part.images));
    const active = rule.remove.filter((entry) => !hasEnded(entry, now)).map(({ image }) => image);
    const lists = {
      ...unmatchedPatterns(rule, images),
      remove: patternsThatSelectNone(active, images),
    };
    const texts = Object.entries(lists).flatMap(([list, patterns]) =>
      patterns.length === 0 ? [] : [noImageText('on its nodes that were read', list, patterns)],
    );
    return texts.map((text) => `GCPolicy ${ofRule[0]?.policy.name ?? ''}: ${text}.`);
  });
}

/** Facts about nodes: what is true of forty nodes is one note. */
function nodeNotes({ parts }: PlanFacts, rules: Rules): readonly string[] {
  const texts = parts.flatMap((part) => partNotes(part, rules).map((text) => ({ name: part.name, text })));
  return [
    ...[...Map.groupBy(texts, ({ text }) => text)].map(
      ([text, nodes]) => `${subjectOf(nodes)}${nodes.length === 1 ? '' : ', each'}: ${text}.`,
    ),
    ...(rules.images ? [...sizeNotes(parts), ...heldNotes(parts), ...inexactNotes(parts)] : []),
  ];
}

function subjectOf(nodes: readonly Pick<NodePart, 'name'>[]): string {
  const names = nodes.map(({ name }) => name);
  return names.length === 1
    ? `Node ${names.join('')}`
    : `${names.length} nodes (${firstOf(names, maxNames)})`;
}

/** A smaller difference is no cause for doubt. */
const unexplainedBytes = 2 ** 30;

/** Whether the bytes by which a plan counts are those that removals free. */
function sizeNotes(parts: readonly NodePart[]): readonly string[] {
  const doubtful = parts.flatMap(({ name, images = [], space, disk }) => {
    if (space !== undefined) return [];
    const listedBytes = sum(distinctImages(images).map(({ sizeBytes }) => sizeBytes));
    const { usedBytes = 0 } = disk ?? {};
    // 0 = unknown, as of CRI-O.
    return usedBytes === 0 || usedBytes < 1.25 * listedBytes || usedBytes - listedBytes < unexplainedBytes
      ? []
      : [{ name, listedBytes, usedBytes }];
  });
  if (doubtful.length === 0) return [];
  const listed = sizeText(sum(doubtful.map(({ listedBytes }) => listedBytes)));
  const used = sizeText(sum(doubtful.map(({ usedBytes }) => usedBytes)));
  return [
    `${subjectOf(doubtful)}: the runtime lists images of ${listed}${doubtful.length === 1 ? '' : ' in all'}, and counts ${used} of image layers. It lists packed sizes, or the rest belongs to no listed image. A removal frees more than its listed size, so the agent, which measures the disk after each, may remove fewer images than this plan.`,
  ];
}

/** What stays after every removal, though no container uses it. */
function heldNotes(parts: readonly NodePart[]): readonly string[] {
  const held = parts.flatMap(({ name, space }) =>
    (space?.shares ?? []).flatMap(({ bytes, heldBy }) =>
      heldBy === undefined || heldBy.startsWith('container ') ? [] : [{ name, bytes, by: heldBy }],
    ),
  );
  const names = [
    ...new Set(held.toSorted((a, b) => b.bytes - a.bytes || byText(a.by, b.by)).map(({ by }) => by)),
  ];
  if (names.length === 0) return [];
  const nodes = parts.filter(({ name }) => held.some((one) => one.name === name));
  return [
    `${subjectOf(nodes)}: ${sizeText(sum(held.map(({ bytes }) => bytes)))} of images would stay if every image were removed: containerd keeps them for ${firstOf(names, maxNames)}.`,
  ];
}

function inexactNotes(parts: readonly NodePart[]): readonly string[] {
  const doubts = parts.flatMap(({ name, space }) =>
    [...(space?.images.values() ?? [])].flatMap(({ inexactBecause: why }) =>
      why === undefined ? [] : [{ name, why }],
    ),
  );
  return [...Map.groupBy(doubts, ({ why }) => why)].map(([why, images]) => {
    const nodes = parts.filter(({ name }) => images.some((one) => one.name === name));
    return `${subjectOf(nodes)}: what the removal of ${counted(images.length, 'image')} frees may be less or more than this plan has: ${why}.`;
  });
}

/** Entries of the lists of images whose effect is easily misread. */
export function imageListNotes({ policies = [] }: Pick<PlanFacts, 'policies'>, now: Date): readonly string[] {
  return policies.flatMap((policy) => {
    const { keep = [], remove = [] } = (isInvalid(policy) ? undefined : policy.nodes?.imageGC) ?? {};
    const ended = remove.filter((entry) => hasEnded(entry, now)).map(({ image }) => image);
    const effects = [
      [
        'keep',
        keep.filter(isRepository),
        ['keeps all tags (for one, write NAME:TAG)', 'keep all tags (for one, write NAME:TAG)'],
      ],
      ['remove', ended, ['has ended and removes nothing', 'have ended and remove nothing']],
    ] as const;
    return effects.flatMap(([list, entries, [ofOne, ofMore]]) => {
      const names = entries.map((entry) => JSON.stringify(entry));
      const effect = names.length === 1 ? ofOne : ofMore;
      return names.length === 0
        ? []
        : [`GCPolicy ${policy.name}: ${firstOf(names, maxNames)} of nodes.imageGC.${list} ${effect}.`];
    });
  });
}

interface Removal extends HoldCounts {
  readonly due: number;
  /** undefined = nothing waits. */
  readonly leftMs: number | undefined;
  readonly isKnown: boolean;
  readonly now: Date;
  /** `delete 3 of 4 pods`. */
  readonly removal: string;
  readonly field: string;
}

/** A large removal that waits, or that would wait if its rules were new. */
export function holdNotes(
  policy: Policy,
  hold: HoldRule,
  { leftMs, isKnown, now, removal, field, ...numbers }: Removal,
): readonly string[] {
  if (leftMs !== undefined)
    return [`GCPolicy ${policy.name}: ${holdText(policy, removal, new Date(now.getTime() + leftMs))}`];
  if (isKnown || holdLeftMs(policy, hold, { ...numbers, inForceForMs: 0 }) === undefined) return [];
  const time = formatDuration(hold.forMs);
  return [
    `GCPolicy ${policy.name} would ${removal}: if its rules are new, dustpan waits ${time} before (${field}=${aboveText(hold.above)}).`,
  ];
}

/** A plan lists every pod that is due; the controller evicts them one after the other. */
export function paceNotes(decisions: PlanDocument['decisions']): readonly string[] {
  const count = decisions.filter(({ verdict }) => verdict === 'Evict').length;
  return count < 2
    ? []
    : [
        `${count} pods are due for eviction. The controller paces them: a tenth of an owner's ready pods (at least one) a minute, less while its replacements are due again, and nodes.localStorageEviction.maxEvictionsPerMinute in the cluster.`,
      ];
}

const maxNames = 3;

function unreadNotes({ unread = [] }: PlanFacts): readonly string[] {
  return [...Map.groupBy(unread, ({ problem }) => problem)].map(([problem, nodes]) => {
    const names = nodes.map(({ name }) => name);
    const subject = names.length === 1 ? 'Node' : 'Nodes';
    return `${subject} ${firstOf(names, maxNames)} ${names.length === 1 ? 'was' : 'were'} not read: ${problem}.`;
  });
}

function reportNotes({ policies = [], parts, usage, reports, moreNodes }: PlanFacts): readonly string[] {
  const { length: count } = reports;
  const isSilent = usage?.length === 0 && parts.length === 0;
  const areRuled = policies.some(({ nodes }) => nodes !== undefined);
  if (isSilent && areRuled)
    return [
      `No node has reported yet, so the removals on nodes are not known. ${firstValues} If agents should run, dustpan status shows why one does not.`,
    ];
  // Else `unknown` of the plan has the nodes and the advice.
  if (count === 0 || areRuled) return [];
  const subject = count === 1 ? 'One node has' : `${count} nodes have`;
  const advice = moreNodes === undefined ? '' : ` To list the objects of nodes, ${moreNodes}.`;
  return [`${subject} only totals, from the reports of the agents.${advice}`];
}

/** How to read more nodes of a cluster than these options do; undefined = they request all, or this node alone. */
export function adviceOnNodes({ node, through }: Pick<PlanInputs, 'node' | 'through'>): string | undefined {
  if (through === 'all') return undefined;
  if (through !== undefined) return 'use --nodes instead of --node';
  return node === undefined ? 'add --nodes, or --node for some' : undefined;
}

function partNotes(part: NodePart, rules: Rules): readonly string[] {
  const isForgetful = rules.images && part.state.images.size === 0 && (part.images?.length ?? 0) > 0;
  return [
    ...partUnknowns(part, rules),
    ...(isForgetful
      ? ['the usage history of its images is not known (state file of the agent): all images count as new']
      : []),
  ];
}

/** Facts that a rule needs and that were not read, so that nothing is removed for it. */
export function partUnknowns(
  part: NodePart,
  { images, containers, orphans, checkpoints, leftovers, usage }: Rules,
): readonly string[] {
  const { disk, containers: listed } = part;
  const imageless = listed?.find((container) => imageOf(container) === '');
  const unknown = [
    [
      'its images are not known (ListImages of the runtime)',
      part.images === undefined,
      images,
      'no image is removed',
    ],
    [
      'its containers are not known (ListContainers of the runtime)',
      listed === undefined,
      images || containers,
      'no image, sandbox or log directory is removed',
    ],
    [
      `the runtime does not report the image of container ${imageless?.name ?? ''} (${imageless?.id ?? ''})`,
      imageless !== undefined,
      images,
      'no image is removed',
    ],
    [
      'its sandboxes are not known (ListPodSandbox of the runtime)',
      part.sandboxes === undefined,
      containers,
      'no container, sandbox or log directory is removed',
    ],
    [
      'its logs are not known (/var/log/pods and /var/log/containers)',
      part.logs === undefined,
      containers,
      'no log is removed',
    ],
    [
      'its orphaned resources are not known (directories of the kubelet, control groups)',
      part.orphans === undefined,
      orphans,
      'none of them is removed',
    ],
    [checkpointsText, part.checkpoints === undefined, checkpoints, 'none of them is removed'],
    [leftoversText, part.leftovers === undefined, leftovers, 'none of them is removed'],
    [diskText(disk), !hasCapacity(disk), images, 'no image is removed for space'],
    [
      "the local storage usage of its pods is not known (the kubelet's /stats/summary)",
      part.usage === undefined,
      usage,
      'no pod is evicted or warned about',
    ],
  ] as const;
  return unknown.flatMap(([text, isUnknown, isRelevant, consequence]) =>
    isUnknown && isRelevant ? [`${text}: ${consequence}`] : [],
  );
}

const checkpointsText = "its checkpoints are not known (the kubelet's directory checkpoints)";

const leftoversText =
  'its leftovers of the container runtime are not known (it is not containerd, or could not be read)';

const diskText = (disk: NodePart['disk']): string =>
  disk === undefined
    ? 'the usage of its image file system is not known (ImageFsInfo of the runtime)'
    : `its image file system reports a capacity of ${disk.capacityBytes} bytes, of which ${disk.availableBytes} are available`;

/** Whether any policy has a rule for these objects of a node. */
export interface Rules {
  readonly images: boolean;
  readonly containers: boolean;
  readonly orphans: boolean;
  readonly checkpoints: boolean;
  readonly leftovers: boolean;
  readonly usage: boolean;
}

export function rulesOf({ policies = [] }: Pick<PlanFacts, 'policies'>): Rules {
  const nodes = policies.flatMap((policy) => (isInvalid(policy) ? [] : (policy.nodes ?? [])));
  return {
    images: nodes.some(({ imageGC }) => imageGC !== undefined),
    containers: nodes.some(({ containerGC }) => containerGC !== undefined),
    orphans: nodes.some(({ orphans }) => orphans !== undefined),
    checkpoints: nodes.some(({ checkpoints }) => checkpoints !== undefined),
    leftovers: nodes.some(({ leftovers }) => leftovers !== undefined),
    usage: needsUsageOf(policies),
  };
}
