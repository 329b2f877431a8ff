import type { Command, OptionValues } from '@commander-js/extra-typings';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { set, thisNode, withNode } from '../cli/config.ts';
import { personConnection, withConnection } from '../cli/connection.ts';
import { UsageError } from '../cli/exit.ts';
import {
  LenientCommand,
  list,
  notObjectName,
  onOff,
  text,
  type EarlierOptions,
  type OptionsOf,
} from '../cli/option.ts';
import { outputOption } from '../cli/output.ts';
import type { Load, System } from '../cli/system.ts';

const about = `Lists the objects that the controller and the agents would remove, in order, each with its reason. Removes nothing. Reads the cluster of the kubeconfig, or a snapshot directory without a cluster. A policy in mode DryRun is planned like any other. From a cluster, a node has only the totals that its agent reports; --node and --nodes plan the images and containers of nodes too, through the pods of their agents. On a node, --cri-socket does it without an agent; for localStorageEviction this needs the right to get nodes/stats. The variable NO_COLOR turns colours off.

Examples:
  # the effect of a policy before it is applied
  dustpan plan --policy=policy.yaml

  # kept objects too, each with its reason
  dustpan plan --kept -o json

  # the images and containers of a node too
  dustpan plan --node=node-1

  # from a snapshot, at the time it was taken
  dustpan plan --snapshot=./snapshot --now=2026-01-15T12:00:00Z`;

const notTime = (given: string): string | undefined =>
  parseRfc3339(given) === undefined ? 'Use an RFC 3339 time such as 2026-01-15T12:00:00Z.' : undefined;

/** Adds the options of `plan` and `why`. */
export const withPlan = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  withNode(
    withConnection(
      command
        .option(
          '--policy <FILE>',
          'File with GCPolicies, JSON or YAML, instead of those of the snapshot or the cluster. Can be repeated.',
          list,
        )
        .option(
          '--snapshot <DIRECTORY>',
          'Plan from a snapshot, without a cluster. Not set: from the current cluster.',
          text(),
        )
        .option(
          '--now <TIME>',
          'Time to plan for, such as 2026-01-15T12:00:00Z. Not set: now.',
          text(notTime),
        )
        .option(
          '--assume-quarantine-elapsed [true|false]',
          'Skip waiting periods (missing nodes, deleted pods).',
          onOff,
          false,
        )
        .addOption(outputOption()),
    ),
  );

/** Collects names, separated by commas. */
const names = (given: string, before: readonly string[] | undefined): readonly string[] =>
  list(given.replaceAll(',', '\n'), before);

const planOptions = () =>
  withPlan(
    new LenientCommand('plan')
      .summary('lists what would be removed, and why')
      .description(about)
      .option('--kept [true|false]', 'Also list kept objects, each with its reason.', onOff, false)
      .option(
        '--node <NODES>',
        "Also plan the images, containers and logs of these nodes, comma-separated; can be repeated. Reads them through the pods of their agents, which needs the right to run a command there (create and get on pods/exec in dustpan's namespace).",
        names,
      )
      .option('--nodes [true|false]', 'The same for all nodes.', onOff, false),
  );

export type PlanInputs = ReturnType<typeof planConfig>;
export type PlanConfig = PlanInputs & { readonly kept: boolean };

/** The parsed command: the values of its options, and their sources. */
interface Parsed {
  opts(): OptionsOf<typeof withPlan<[], EarlierOptions>>;
  getOptionValueSource(key: string): string | undefined;
}

/** Nodes to read through the pods of their agents. */
type ThroughAgents = readonly string[] | 'all';

/** The settings that `plan` and `why` share; throws UsageError for a contradiction. */
export function planConfig(parsed: Parsed, { env }: System, command = 'plan') {
  const options = parsed.opts();
  const { now: time = '', policy = [] } = options;
  const now = parseRfc3339(time);
  return {
    policyFiles: policy,
    ...sourceOf(parsed, env, command),
    /** undefined = none. */
    through: undefined as ThroughAgents | undefined,
    /** undefined = now. */
    now: now === undefined ? undefined : new Date(now),
    assumeElapsed: options.assumeQuarantineElapsed,
    output: options.output,
    isColourAllowed: set(env['NO_COLOR']) === undefined,
    kube: personConnection(options, env, command),
  };
}

/** `snapshot` undefined = from the cluster; `node` undefined = without the objects of this node. */
function sourceOf(parsed: Parsed, env: System['env'], command: string) {
  const options = parsed.opts();
  // On a node, the environment often sets the socket; the command line overrides it.
  const isGiven = (key: keyof typeof options): boolean => parsed.getOptionValueSource(key) === 'cli';
  const isSnapshotOnly = isGiven('snapshot') && !isGiven('criSocket');
  const isNodeOnly = isGiven('criSocket') && !isGiven('snapshot');
  const snapshot = isNodeOnly ? undefined : options.snapshot;
  const node = isSnapshotOnly ? undefined : thisNode(options, env, command);
  if (snapshot !== undefined && node !== undefined)
    throw new UsageError([`${command}: --cri-socket and --snapshot exclude each other`]);
  return { snapshot, node };
}

interface NodesParsed {
  opts(): { readonly node?: readonly string[] | undefined; readonly nodes: boolean };
  getOptionValueSource(key: string): string | undefined;
}

/** Adds the nodes to read through their agents, which take the place of a socket or snapshot in the environment. */
function withNodes(config: PlanInputs, parsed: NodesParsed): PlanInputs {
  const { node: names, nodes } = parsed.opts();
  if (names === undefined && !nodes) return config;
  const problem = nodesProblem(parsed);
  if (problem !== undefined) throw new UsageError([`plan: ${problem}`]);
  return { ...config, snapshot: undefined, node: undefined, through: nodes ? 'all' : names };
}

function nodesProblem(parsed: NodesParsed): string | undefined {
  const { node: names = [], nodes } = parsed.opts();
  if (names.length > 0 && nodes) return '--node and --nodes exclude each other';
  const isElsewhere = ['snapshot', 'criSocket'].some((key) => parsed.getOptionValueSource(key) === 'cli');
  if (isElsewhere) return '--node and --nodes read a cluster: they exclude --snapshot and --cri-socket';
  const wrong = names.find((name) => notObjectName(name) !== undefined);
  return wrong === undefined ? undefined : `--node ${JSON.stringify(wrong)} is not the name of a node`;
}

export const planCommand = (system: System, load: Load<[PlanConfig, System]>) =>
  planOptions().action(async ({ kept }, command) => {
    const config = { ...withNodes(planConfig(command, system), command), kept };
    const run = await load();
    system.exitCode = await run(config, system);
  });
