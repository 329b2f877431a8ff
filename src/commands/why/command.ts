import { Argument } from '@commander-js/extra-typings';
import { parseImageReference } from '../../api/image-reference.ts';
import { UsageError } from '../cli/exit.ts';
import { LenientCommand, notObjectName, text } from '../cli/option.ts';
import { planConfig, withPlan, type PlanInputs } from '../plan/command.ts';
import type { Load, System } from '../cli/system.ts';

const about = `Explains one object: whether the controller or the agent would remove it, the reason with its values, the policy and the field that decide, when time alone would change the verdict, and what else would. Removes nothing. Reads the cluster or a snapshot, as the command plan does. Images and containers are known only on their node: --node reads it through the pod of its agent, which needs the right to run a command there (create and get on pods/exec in dustpan's namespace). On the node, --cri-socket does it without an agent.

Examples:
  # why is this pod still there?
  dustpan why pod batch/report-28

  # its verdict under another policy
  dustpan why pod batch/report-28 --policy=policy.yaml

  # why is this image kept on node-1?
  dustpan why image nginx:1.25 --node=node-1

  # the same, on the node
  dustpan why image nginx:1.25 --cri-socket=/run/containerd/containerd.sock

  # from a snapshot
  dustpan why container 4f2ac9 --snapshot=./snapshot`;

/** The object to explain. */
export type Question =
  | {
      readonly kind: 'pod';
      /** undefined = the current one. */
      readonly namespace: string | undefined;
      readonly name: string;
    }
  | {
      readonly kind: 'image' | 'container';
      /** As on the command line. */
      readonly text: string;
      /** undefined = every node. */
      readonly node: string | undefined;
    };

export interface WhyConfig {
  readonly plan: PlanInputs;
  readonly question: Question;
}

const whyOptions = () =>
  withPlan(
    new LenientCommand('why')
      .summary('explains why one pod, image or container is removed or kept')
      .description(about)
      .addArgument(new Argument('<KIND>', 'Kind of the object.').choices(['pod', 'image', 'container']))
      .argument(
        '<NAME>',
        'NAMESPACE/NAME of a pod (NAME alone: in the current namespace), reference or id of an image, id of a container or sandbox, or path of a log. The beginning of an id is enough.',
      )
      .option(
        '--node <NODE>',
        'For images and containers: on this node. Needed with a cluster; with a snapshot, not set: on every known node.',
        text(notObjectName),
      ),
  );

export const whyCommand = (system: System, load: Load<[WhyConfig, System]>) =>
  whyOptions().action(async (kind, name, { node }, command) => {
    const question = questionOf(kind, name, node);
    if ('problem' in question) throw new UsageError([`why: ${question.problem}`]);
    const config = { plan: withQuestion(planConfig(command, system, 'why'), question), question };
    const run = await load();
    system.exitCode = await run(config, system);
  });

/** From a cluster, the node of the question is read through its agent. */
function withQuestion(plan: PlanInputs, question: Question): PlanInputs {
  if (question.kind === 'pod' || question.node === undefined) return plan;
  const isKnown = plan.snapshot !== undefined || plan.node !== undefined;
  return isKnown ? plan : { ...plan, through: [question.node] };
}

type Parsed = Question | { readonly problem: string };

function questionOf(kind: string, text: string, node: string | undefined): Parsed {
  if (kind === 'image') return imageQuestion(text, node);
  if (kind === 'container') return containerQuestion(text, node);
  return node === undefined ? podQuestion(text) : { problem: '--node is for images and containers' };
}

function podQuestion(text: string): Parsed {
  const names = text.split('/');
  const [first = '', second] = names;
  if (names.length > 2 || !names.every((name) => podName.test(name)))
    return { problem: `pod: must be NAMESPACE/NAME, is ${JSON.stringify(text)}` };
  return second === undefined
    ? { kind: 'pod', namespace: undefined, name: first }
    : { kind: 'pod', namespace: first, name: second };
}

const podName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** The prefix of container ids in Kubernetes, and of image ids in old runtimes, such as `containerd://`. */
const scheme = /^[a-z]+(-[a-z]+)*:\/\//;

function imageQuestion(given: string, node: string | undefined): Parsed {
  const text = given.trim().replace(scheme, '');
  return parseImageReference(text) === undefined
    ? { problem: `image: must be a reference or an id, is ${JSON.stringify(given)}` }
    : { kind: 'image', text, node };
}

/** A shorter id is more often a typing error. */
const minId = 4;

function containerQuestion(given: string, node: string | undefined): Parsed {
  const text = given.trim().replace(scheme, '');
  return text.length < minId || /\s/.test(text)
    ? {
        problem: `container: must be at least ${minId} characters of an id, or a path, is ${JSON.stringify(given)}`,
      }
    : { kind: 'container', text, node };
}
