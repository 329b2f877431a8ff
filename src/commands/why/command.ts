import { Argument } from '@commander-js/extra-typings';
import { UsageError } from '../../process/exit.ts';
import { outputOption, type OutputFormat } from '../../process/output.ts';
import { LenientCommand, notObjectName, text } from '../../process/option.ts';
import { planConfig, withPlan } from '../cli/plan-options.ts';
import type { Load, System } from '../../process/system.ts';
import { kinds, questionOf, type Question } from '../../evaluation/why/question.ts';
import type { PlanInputs } from '../../evaluation/plan/inputs.ts';

const about = `Explains one object: whether the controller or the agent would remove it, the reason with its values, the policy and the field that decide, when time alone would change the verdict, and what else would. Removes nothing. For a stuck pod, also names the cause and the command that helps. If dustpan removed the object, shows when, where and why, from Events or the reports of the nodes. Reads the cluster or a snapshot, as the command plan does. Images and containers are known only on their node: --node reads it through the pod of its agent, which needs the right to run a command there (create and get on pods/exec in dustpan's namespace). On the node, --cri-socket does it without an agent.

Examples:
  # why is this pod still there?
  dustpan why pod/report-28 -n batch

  # its verdict under another policy
  dustpan why pod batch/report-28 --policy=policy.yaml

  # why is this image kept on node-1?
  dustpan why image nginx:1.25 --node=node-1

  # the same, on the node
  dustpan why image nginx:1.25 --cri-socket=/run/crio/crio.sock

  # the containers of this name in a pod
  dustpan why container web/api-7d4 main --node=node-1

  # a log, by its path
  dustpan why log /var/log/pods/web_api_7f3a/main/0.log \\
    --node=node-1

  # from a snapshot
  dustpan why container 4f2ac9 --snapshot=./snapshot`;

export interface WhyConfig {
  readonly plan: PlanInputs;
  readonly question: Question;
  readonly output: OutputFormat;
}

/** Offers the kinds for completion. Not by `choices`: that would refuse `pod/NAME`. */
function kindArgument() {
  const argument = new Argument(
    '<KIND>',
    'Kind of the object: pod, image, container, sandbox, log, checkpoint, node, or a kind of plan -o json. KIND/NAME is one word.',
  );
  argument.argChoices = [...kinds];
  return argument;
}

const whyOptions = () =>
  withPlan(
    new LenientCommand('why')
      .summary('explains why one pod, image or container is removed or kept')
      .description(about)
      .addArgument(kindArgument())
      .argument(
        '[NAME...]',
        'NAMESPACE/NAME of a pod (NAME alone: in the current namespace), reference or id of an image, id of a container or sandbox or NAMESPACE/POD and its name, path of a log, name or NAMESPACE/POD of a checkpoint, or the object as plan prints it. The beginning of an id is enough.',
      )
      .addOption(outputOption(['table', 'json', 'yaml']))
      .option(
        '-n, --namespace <NAMESPACE>',
        "For a pod: its namespace. Not set: the kubeconfig context's.",
        text(notObjectName),
      )
      .option(
        '--node <NODE>',
        'For images and containers: on this node. Not set: the only node of the cluster, or every node of the snapshot.',
        text(notObjectName),
      ),
  );

export const whyCommand = (system: System, load: Load<[WhyConfig, System]>) =>
  whyOptions().action(async (kind, name, { namespace, node, output }, command) => {
    const question = questionOf({ text: [kind, ...name].join(' '), namespace, node });
    if ('problem' in question) throw new UsageError([`why: ${question.problem}`]);
    const hasSocketFlag = command.getOptionValueSource('criSocket') === 'cli';
    const plan = withQuestion(planConfig(command, system, 'why'), question, hasSocketFlag);
    const config = { plan, question, output };
    const run = await load();
    system.exitCode = await run(config, system);
  });

/** From a cluster, the node of the question is read through its agent. A socket in the environment is used only for its own node. */
function withQuestion(plan: PlanInputs, question: Question, hasSocketFlag: boolean): PlanInputs {
  if (question.kind === 'pod' || question.node === undefined || plan.snapshot !== undefined) return plan;
  if (plan.node !== undefined && (hasSocketFlag || plan.node.name === question.node)) return plan;
  return { ...plan, node: undefined, through: [question.node] };
}
