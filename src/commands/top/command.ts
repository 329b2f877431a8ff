import { Argument } from '@commander-js/extra-typings';
import { set } from '../../process/config.ts';
import { personConnection, withConnection, type PersonConnection } from '../../process/connection.ts';
import { UsageError } from '../../process/exit.ts';
import { LenientCommand, names, notObjectName, onOff, text } from '../../process/option.ts';
import {
  colorOption,
  hasColours,
  listFormats,
  outputOption,
  rowsOnlyHelp,
  type ListFormat,
} from '../../process/output.ts';
import type { Load, System } from '../../process/system.ts';
import { podFilterOf, withPodFilter } from '../cli/plan-options.ts';
import { sortValues } from './rows.ts';

const about = `Shows what uses the disks of the nodes, and when they will be full. Reads only the reports of the agents: needs no policy, and only the right to list nodegcreports; with the right to list nodes, nodes without an agent are shown, too.

"-" is unknown, or has no meaning there; "≥" is a lower bound; "!" marks values older than 15 minutes. Lines above the table name what is unknown.

- FULL IN: when the disk is full at the present growth; "-" also: no growth, or later than in a week.
- AFTER GC: the same if everything collectable is removed by then.
- RECLAIMABLE: what nothing protects and the agents collect.
- NOW, HIGHEST: all pods of a workload; one of its pods at most in the last 7 days. Only workloads with 64Mi, or half of a limit, are listed.
- EVICTION: the place in which the kubelet would evict the pod if the disk of volumes and logs were full, and why.
- USED: 100% = no byte is available; so BYTES and RESERVED, which the file system keeps for root, count.
- OF: the capacity of the disk or of the claim, or the sizeLimit of the emptyDir.
- Sizes of images are those of the runtime, which counts a shared layer in each image.
- Volumes are emptyDirs on disk and the claims that the kubelet measures: no block volumes, no hostPath.

Examples:
  # what fills the disks of the cluster, and how much of it can be reclaimed
  dustpan top disk

  # the same of one node
  dustpan top disk --node=node-7

  # the nodes, the fullest first, and when they will be full
  dustpan top nodes

  # which team fills a node, and until when?
  dustpan top namespaces --node=node-7

  # the pods of a namespace, by their logs
  dustpan top pods -n batch --sort-by=logs

  # the pods that the kubelet would evict first from a node whose disk is full
  dustpan top pods -A --node=node-7 --sort-by=eviction -o wide

  # what workloads have used at most, beside their requests and limits
  dustpan top workloads -A

  # which volumes are full soon, those of claims too
  dustpan top volumes -A --sort-by=full

  # what the cluster would gain without each image
  dustpan top images --sort-by=gain -o wide`;

const topKinds: readonly TopKind[] = [
  'disk',
  'nodes',
  'namespaces',
  'workloads',
  'pods',
  'volumes',
  'images',
];
export type TopKind = keyof typeof sortValues;

/** kubectl's other names. */
const aliases: ReadonlyMap<string, TopKind> = new Map([
  ['disks', 'disk'],
  ['node', 'nodes'],
  ['no', 'nodes'],
  ['namespace', 'namespaces'],
  ['ns', 'namespaces'],
  ['workload', 'workloads'],
  ['pod', 'pods'],
  ['po', 'pods'],
  ['volume', 'volumes'],
  ['pvc', 'volumes'],
  ['image', 'images'],
]);

const formatHelp =
  'Output format. wide adds columns; name prints what kubectl, and of images dustpan why, takes as arguments.';

export interface TopQuestion {
  readonly kind: TopKind;
  readonly sortBy: string;
  /** For namespaces, workloads, pods and volumes; undefined = all. */
  readonly namespace: string | undefined;
  /** For workloads, pods and volumes: the namespace of the kubeconfig's context. */
  readonly isCurrentNamespace: boolean;
  /** undefined = all. */
  readonly nodes: readonly string[] | undefined;
  /** The name of the only pod. */
  readonly pod?: string | undefined;
  /** Labels of nodes, namespaces or pods. */
  readonly selector: string | undefined;
}

export interface TopConfig {
  readonly kube: PersonConnection;
  readonly question: TopQuestion;
  readonly watch: boolean;
  readonly output: ListFormat;
  readonly headers: boolean;
  readonly colours: boolean;
}

/** Offers the kinds for completion. Not by `choices`: that would refuse kubectl's other names. */
function kindArgument() {
  const argument = new Argument(
    '<KIND>',
    'What to list: disk, nodes, namespaces, workloads, pods, volumes or images.',
  );
  argument.argChoices = [...topKinds];
  return argument;
}

const sortHelp = topKinds.map((kind) => `${kind} ${Object.keys(sortValues[kind]).join(', ')}`).join('; ');

const topOptions = () =>
  withConnection(
    withPodFilter(
      new LenientCommand('top')
        .summary('shows what uses the disks of the nodes, and when they will be full')
        .description(about)
        .addArgument(kindArgument())
        .argument('[NAME]', 'Only this node or pod.', text(notObjectName))
        .option(
          '--sort-by <FIELD>',
          `Sort by this field, the largest first, unknown values last. For ${sortHelp}. Not set: the first of these.`,
          text(),
        )
        .option(
          '--node <NODES>',
          'Only what is on these nodes, and when they will be full. Comma-separated; can be repeated.',
          names,
        ),
      {
        namespace:
          "For namespaces, workloads, pods and volumes: only this namespace. Not set: for workloads, pods and volumes without --node that of the kubeconfig's context, else all.",
        allNamespaces: 'For workloads, pods and volumes: of all namespaces.',
        selector:
          "Select by labels, such as app=web,tier!=cache or 'env in (dev,test)': nodes, namespaces or pods; for disk, workloads, volumes and images their nodes.",
      },
    )
      .option('-w, --watch [true|false]', 'Show it again after each change, until Ctrl-C.', onOff, false)
      .addOption(colorOption())
      .option('--no-headers', rowsOnlyHelp)
      .addOption(outputOption(listFormats, formatHelp)),
  );

export const topCommand = (system: System, load: Load<[TopConfig, System]>) =>
  topOptions().action(async (word, name, options) => {
    const kind = kindOf(word);
    const { namespace } = podFilterOf(options, 'top');
    if (namespace !== undefined && kind !== 'namespaces' && !isOfNamespace(kind))
      throw new UsageError([`top: -n is for namespaces, workloads, pods and volumes, not for ${kind}`]);
    if (kind === 'disk' && options.output === 'name')
      throw new UsageError(['top: kinds of usage have no names that kubectl takes']);
    const isAnywhere = options.allNamespaces || options.node !== undefined;
    const run = await load();
    system.exitCode = await run(
      {
        kube: personConnection(options, system.env, 'top'),
        question: {
          kind,
          sortBy: sortField(kind, options.sortBy),
          namespace,
          isCurrentNamespace: isOfNamespace(kind) && namespace === undefined && !isAnywhere,
          ...named(kind, name, options.node),
          selector: options.selector,
        },
        watch: options.watch,
        output: options.output,
        headers: options.headers,
        colours: hasColours(options.color, set(system.env['NO_COLOR'])),
      },
      system,
    );
  });

/** As in kubectl, a name is that of a node or a pod. */
function named(kind: TopKind, name: string | undefined, nodes: readonly string[] | undefined) {
  if (name === undefined) return { nodes: nodesOf(nodes) };
  if (kind === 'nodes') return { nodes: nodesOf([...(nodes ?? []), name]) };
  if (kind === 'pods') return { nodes: nodesOf(nodes), pod: name };
  throw new UsageError([`top: a NAME selects a node or a pod, not one of ${kind}`]);
}

const isOfNamespace = (kind: TopKind): boolean =>
  kind === 'workloads' || kind === 'pods' || kind === 'volumes';

const knownKind = (word: string): TopKind | undefined =>
  topKinds.find((known) => known === word) ?? aliases.get(word);

/** The values of --sort-by for a kind; without one, those of all kinds. */
export function sortFields(word: string | undefined): readonly string[] {
  const kind = word === undefined ? undefined : knownKind(word);
  const kinds = kind === undefined ? topKinds : [kind];
  return [...new Set(kinds.flatMap((one) => Object.keys(sortValues[one])))];
}

function kindOf(word: string): TopKind {
  const kind = knownKind(word);
  if (kind !== undefined) return kind;
  throw new UsageError([`top: ${JSON.stringify(word)} is not listed; use ${topKinds.join(', ')}`]);
}

function sortField(kind: TopKind, field: string | undefined): string {
  const known = Object.keys(sortValues[kind]);
  const [first = ''] = known;
  if (field === undefined || known.includes(field)) return field ?? first;
  throw new UsageError([
    `top: ${kind} cannot be sorted by ${JSON.stringify(field)}; use ${known.join(', ')}`,
  ]);
}

function nodesOf(given: readonly string[] | undefined): readonly string[] | undefined {
  const wrong = given?.length === 0 ? '' : given?.find((name) => notObjectName(name) !== undefined);
  if (wrong === undefined) return given;
  throw new UsageError([`top: --node ${JSON.stringify(wrong)} is not the name of a node`]);
}
