import type { Command, OptionValues } from '@commander-js/extra-typings';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { set, thisNode, withNode } from '../cli/config.ts';
import { personConnection, withConnection } from '../cli/connection.ts';
import { UsageError } from '../cli/exit.ts';
import { LenientCommand, list, onOff, text, type EarlierOptions, type OptionsOf } from '../cli/option.ts';
import { outputOption } from '../cli/output.ts';
import type { Load, System } from '../cli/system.ts';

const about = `Lists the objects that the controller and the agents would remove, in order, each with its reason. Removes nothing. Reads the cluster of the kubeconfig, or a snapshot directory without a cluster. A policy in mode DryRun is planned like any other. From a cluster, a node has only the totals that its agent reports. On a node, --cri-socket plans its images and containers too; for localStorageEviction this needs the right to get nodes/stats. The variable NO_COLOR turns colours off.

Examples:
  # the effect of a policy before it is applied
  dustpan plan --policy=policy.yaml

  # kept objects too, each with its reason
  dustpan plan --kept -o json

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

const planOptions = () =>
  withPlan(
    new LenientCommand('plan')
      .summary('lists what would be removed, and why')
      .description(about)
      .option('--kept [true|false]', 'Also list kept objects, each with its reason.', onOff, false),
  );

export type PlanInputs = ReturnType<typeof planConfig>;
export type PlanConfig = PlanInputs & { readonly kept: boolean };

/** The parsed command: the values of its options, and their sources. */
interface Parsed {
  opts(): OptionsOf<typeof withPlan<[], EarlierOptions>>;
  getOptionValueSource(key: string): string | undefined;
}

/** The settings that `plan` and `why` share; throws UsageError for a contradiction. */
export function planConfig(parsed: Parsed, { env }: System, command = 'plan') {
  const options = parsed.opts();
  const { now: time = '', policy = [] } = options;
  const now = parseRfc3339(time);
  return {
    policyFiles: policy,
    ...sourceOf(parsed, env, command),
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

export const planCommand = (system: System, load: Load<[PlanConfig, System]>) =>
  planOptions().action(async ({ kept }, command) => {
    const config = { ...planConfig(command, system), kept };
    const run = await load();
    system.exitCode = await run(config, system);
  });
