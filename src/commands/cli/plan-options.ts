import type { Command, OptionValues } from '@commander-js/extra-typings';
import { parseSelector } from '../../api/policy/selector-text.ts';
import { durationHint, parseDuration } from '../../runtime/text/duration.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { thisNode, withNode } from '../../process/config.ts';
import { personConnection, withConnection } from '../../process/connection.ts';
import { UsageError } from '../../process/exit.ts';
import {
  list,
  names,
  notObjectName,
  onOff,
  text,
  type EarlierOptions,
  type OptionsOf,
} from '../../process/option.ts';
import { progressOption } from '../../process/output.ts';
import type { System } from '../../process/system.ts';
import type { PodFilter } from '../../evaluation/plan/filter.ts';
import type { PlanInputs } from '../../evaluation/plan/inputs.ts';

const notTime = (given: string): string | undefined =>
  parseRfc3339(given) === undefined && laterMsOf(given) === undefined
    ? `Use an RFC 3339 time such as 2026-01-15T12:00:00Z, or a duration to add, such as +24h or +7d${durationHint(given.replace(/^\+/, ''), '+')}.`
    : undefined;

/** Milliseconds of `+7d`, `+24h` or `+1d12h`; undefined for anything else. */
const laterMsOf = (text: string): number | undefined =>
  text.startsWith('+') ? parseDuration(text.slice(1)) : undefined;

export const withPlan = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  withNode(
    withConnection(
      command
        .option(
          '-f, --policy <FILE>',
          'File with GCPolicies, JSON or YAML; - is standard input. They replace the policies of the same name in force (in the snapshot or the cluster), and add to the others. Objects of other kinds are skipped. Can be repeated.',
          list,
        )
        .option(
          '--replace-policies [true|false]',
          'Use only the policies of --policy: those in force count as deleted.',
          onOff,
          false,
        )
        .option(
          '--snapshot <DIRECTORY>',
          'Plan from a snapshot, without a cluster. Not set: from the current cluster.',
          text(),
        )
        .option(
          '--now <TIME>',
          'Time to plan for, such as 2026-01-15T12:00:00Z. Not set: the time of the snapshot, or now. +24h or +7d: that much later. Only the time differs, not the objects. A waiting period that has not begun starts at the planned time; --assume-quarantine-elapsed skips it.',
          text(notTime),
        )
        .option(
          '--assume-quarantine-elapsed [true|false]',
          'Skip waiting periods (missing nodes, deleted pods).',
          onOff,
          false,
        )
        .addOption(progressOption()),
    ),
  );

const notSelector = (given: string): string | undefined => {
  const parsed = parseSelector(given);
  return 'problem' in parsed ? parsed.problem : undefined;
};

interface FilterHelp {
  readonly namespace: string;
  readonly allNamespaces: string;
  readonly selector: string;
}

export const withPodFilter = <A extends unknown[], O extends OptionValues>(
  command: Command<A, O>,
  help: FilterHelp,
) =>
  command
    .option('-n, --namespace <NAMESPACE>', help.namespace, text(notObjectName))
    .option('-A, --all-namespaces [true|false]', help.allNamespaces, onOff, false)
    .option('-l, --selector <SELECTOR>', help.selector, text(notSelector));

type FilterOptions = OptionsOf<typeof withPodFilter<[], EarlierOptions>>;

/** Throws UsageError for a contradiction. */
export function podFilterOf(
  { namespace, allNamespaces, selector = '' }: FilterOptions,
  command: string,
): PodFilter {
  if (namespace !== undefined && allNamespaces)
    throw new UsageError([`${command}: -n and -A exclude each other`]);
  const parsed = parseSelector(selector);
  return { namespace, selector: 'problem' in parsed ? undefined : parsed };
}

/** The options of commands that show a part of a plan. */
export const shownPodsHelp: FilterHelp = {
  namespace:
    'Show only the pods of this namespace and what belongs to them. Thresholds count the pods of all namespaces, if you may list them.',
  allNamespaces: 'Show the pods of all namespaces, as without -n.',
  selector:
    "Show only the pods with these labels and what belongs to them, such as app=web,tier!=cache or 'env in (dev,test)'. Thresholds count all pods. Objects of pods that are gone are not shown: their labels are not known.",
};

/** Adds the nodes whose objects are read through the pods of their agents. */
export const withNodeNames = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .option(
      '--node <NODES>',
      "Also plan the images, containers and logs of these nodes, comma-separated; can be repeated. Reads them through the pods of their agents, which needs the right to run a command there (create and get on pods/exec in dustpan's namespace), and in clusters where others run pods with the labels of agents the right to list clusterrolebindings.",
      names,
    )
    .option('--nodes [true|false]', 'The same for all nodes.', onOff, false);

/** A command line with these options. */
interface Parsed<O> {
  opts(): O;
  getOptionValueSource(key: string): string | undefined;
}

type PlanOptions = OptionsOf<typeof withPlan<[], EarlierOptions>>;

/** The settings that `plan` and `why` share; throws UsageError for a contradiction. */
export function planConfig(parsed: Parsed<PlanOptions>, { env }: System, command = 'plan'): PlanInputs {
  const options = parsed.opts();
  const { now: time = '', policy = [] } = options;
  const now = parseRfc3339(time);
  if (options.replacePolicies && policy.length === 0)
    throw new UsageError([`${command}: --replace-policies needs --policy`]);
  return {
    given: { files: policy, replacesAll: options.replacePolicies },
    ...sourceOf(parsed, env, command),
    through: undefined,
    now: now === undefined ? undefined : new Date(now),
    laterMs: laterMsOf(time) ?? 0,
    assumeElapsed: options.assumeQuarantineElapsed,
    progress: options.progress,
    kube: personConnection(options, env, command),
  };
}

/** `snapshot` undefined = from the cluster; `node` undefined = without the objects of this node. */
function sourceOf(parsed: Parsed<PlanOptions>, env: System['env'], command: string) {
  const options = parsed.opts();
  // On a node, the environment often sets the socket; the command line overrides it.
  const isGiven = (key: keyof typeof options): boolean => parsed.getOptionValueSource(key) === 'cli';
  // Most often a variable of a script that is not set: the cluster would be planned instead.
  if (isGiven('snapshot') && options.snapshot === undefined)
    throw new UsageError([
      `${command}: the value of --snapshot is empty; name a directory, or leave the option out to read the current cluster`,
    ]);
  const isSnapshotOnly = isGiven('snapshot') && !isGiven('criSocket');
  const isNodeOnly = isGiven('criSocket') && !isGiven('snapshot');
  const snapshot = isNodeOnly ? undefined : options.snapshot;
  const node = isSnapshotOnly ? undefined : thisNode(options, env, command);
  if (snapshot !== undefined && node !== undefined)
    throw new UsageError([`${command}: --cri-socket and --snapshot exclude each other`]);
  return { snapshot, node };
}

type NodesOptions = OptionsOf<typeof withNodeNames<[], EarlierOptions>>;

/**
 * Adds the nodes to read through their agents. They take the place of a snapshot in the environment. A socket in the environment is used only
 * for its own node, which then needs no agent.
 */
export function withNodes(config: PlanInputs, parsed: Parsed<NodesOptions>, command: string): PlanInputs {
  const { node: names, nodes } = parsed.opts();
  if (names === undefined && !nodes) return config;
  const problem = nodesProblem(parsed);
  if (problem !== undefined) throw new UsageError([`${command}: ${problem}`]);
  const { node } = config;
  if (names === undefined) return { ...config, snapshot: undefined, through: 'all' };
  const through = names.filter((name) => name !== node?.name);
  const isThisNode = through.length < names.length;
  return {
    ...config,
    snapshot: undefined,
    node: isThisNode ? node : undefined,
    through: through.length === 0 ? undefined : through,
  };
}

function nodesProblem(parsed: Parsed<NodesOptions>): string | undefined {
  const { node: names = [], nodes } = parsed.opts();
  if (names.length > 0 && nodes) return '--node and --nodes exclude each other';
  const isElsewhere = ['snapshot', 'criSocket'].some((key) => parsed.getOptionValueSource(key) === 'cli');
  if (isElsewhere) return '--node and --nodes read a cluster: they exclude --snapshot and --cri-socket';
  const wrong = names.find((name) => notObjectName(name) !== undefined);
  return wrong === undefined ? undefined : `--node ${JSON.stringify(wrong)} is not the name of a node`;
}
