import { parseImageReference } from '../api/image-reference.ts';
import { set } from './config.ts';
import { UsageError } from './exit.ts';
import { stringFlag } from './flag-types.ts';
import type { CommandLine, FlagTable } from './flags.ts';
import { planConfig, type PlanConfig } from './plan-config.ts';
import { planFlags } from './plan-flags.ts';
import type { System } from './system.ts';

const nodeFlag = stringFlag({
  name: 'node',
  placeholder: 'NODE',
  default: '',
  help: 'Of images and containers: only on this node. Not set: on every node that was looked into.',
});

/** Of `dustpan why`: those of plan, but for `--kept`, as one object is told of whether it stays or not. */
export const whyFlags: FlagTable = [
  nodeFlag,
  ...Object.values(planFlags).filter(({ name }) => name !== planFlags.kept.name),
];

/** What is asked about. */
export type Question =
  | {
      readonly kind: 'pod';
      /** undefined = the current one. */
      readonly namespace: string | undefined;
      readonly name: string;
    }
  | {
      readonly kind: 'image' | 'container';
      /** As it was given. */
      readonly text: string;
      /** undefined = every one. */
      readonly node: string | undefined;
    };

export interface WhyConfig {
  readonly plan: PlanConfig;
  readonly question: Question;
}

/** The settings of `dustpan why`, valid together; throws UsageError for what is not. */
export function whyConfig(line: CommandLine, system: System): WhyConfig {
  const [kind = '', text = ''] = line.args;
  const node = set(line.value(nodeFlag));
  const question = questionOf(kind, text, node);
  if ('problem' in question) throw new UsageError([`why: ${question.problem}`]);
  return { plan: planConfig(line, system, 'why'), question };
}

type Asked = Question | { readonly problem: string };

function questionOf(kind: string, text: string, node: string | undefined): Asked {
  if (kind === 'image') return imageQuestion(text, node);
  if (kind === 'container') return containerQuestion(text, node);
  return node === undefined ? podQuestion(text) : { problem: '--node is for images and containers' };
}

function podQuestion(text: string): Asked {
  const names = text.split('/');
  const [first = '', second] = names;
  if (names.length > 2 || !names.every((name) => podName.test(name)))
    return { problem: `pod: must be NAMESPACE/NAME, is ${JSON.stringify(text)}` };
  return second === undefined
    ? { kind: 'pod', namespace: undefined, name: first }
    : { kind: 'pod', namespace: first, name: second };
}

const podName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** How Kubernetes writes ids of containers, and old runtimes those of images: with the runtime before them. */
const scheme = /^[a-z]+(-[a-z]+)*:\/\//;

function imageQuestion(given: string, node: string | undefined): Asked {
  const text = given.trim().replace(scheme, '');
  return parseImageReference(text) === undefined
    ? { problem: `image: must be a reference or an id, is ${JSON.stringify(given)}` }
    : { kind: 'image', text, node };
}

/** Less of an id is more often a mistake than a question. */
const leastId = 4;

function containerQuestion(given: string, node: string | undefined): Asked {
  const text = given.trim().replace(scheme, '');
  return text.length < leastId || /\s/.test(text)
    ? {
        problem: `container: must be at least ${leastId} characters of an id, or a path, is ${JSON.stringify(given)}`,
      }
    : { kind: 'container', text, node };
}
