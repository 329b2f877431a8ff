import { planContainers } from './containers.ts';
import {
  isRemoval,
  type ContainerGcFacts,
  type ContainerGcPlan,
  type ContainerObject,
  type Decision,
  type Given,
  type Kept,
} from './facts.ts';
import { planLogDirectories } from './log-directories.ts';
import { planLogLinks } from './log-links.ts';
import { standings, type Standing } from './pods.ts';
import { planRotatedLogs } from './rotated-logs.ts';
import { planSandboxes } from './sandboxes.ts';

/**
 * Decides what of the containers, sandboxes and logs of a node goes, in the order of execution, and why the rest stays. Each step sees
 * what the steps before it leave. Pods that are not known are not gone; the limits on dead containers hold all the same (upstream.md 3.2).
 */
export function planContainerGc(facts: ContainerGcFacts, given: Given): ContainerGcPlan {
  const standing = standings(facts, given);
  const containers = planContainers(facts, standing, given);
  const left = { containers: facts.containers && keptContainers(containers), standing };
  const sandboxes = planSandboxes(facts, left, given);
  const logs = planLogs(facts, { standing, containers }, given);
  const decisions: readonly Decision[] = [...containers, ...sandboxes, ...logs];
  return { removals: decisions.filter(isRemoval), kept: decisions.filter(isKept) };
}

interface SoFar {
  readonly standing: (uid: string) => Standing;
  readonly containers: readonly Decision<ContainerObject>[];
}

function planLogs(
  facts: ContainerGcFacts,
  { standing, containers }: SoFar,
  given: Given,
): readonly Decision[] {
  if (facts.logs === undefined) return [];
  const left = facts.containers && keptContainers(containers);
  const podsKnown = facts.pods !== undefined;
  const directories = planLogDirectories(facts.logs, { containers: left, standing, podsKnown }, given);
  const gone = directories.filter(isRemoval).map(({ object }) => object);
  const links = planLogLinks(
    facts.logs,
    { containers: facts.containers, goWithDirectory: new Set(gone.flatMap((object) => object.links)) },
    given,
  );
  const rotated = planRotatedLogs(
    facts.logs,
    {
      standing,
      goneDirectories: new Set(gone.map(({ path }) => path)),
      removed: containers.filter(isRemoval).map(({ object }) => object.container),
      runtimeKnown: facts.containers !== undefined && facts.sandboxes !== undefined,
    },
    given,
  );
  return [...directories, ...links, ...rotated];
}

const keptContainers = (decisions: readonly Decision<ContainerObject>[]): ContainerObject['container'][] =>
  decisions.filter((decision) => !isRemoval(decision)).map(({ object }) => object.container);

const isKept = (decision: Decision): decision is Kept => !isRemoval(decision);
