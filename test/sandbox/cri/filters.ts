import type {
  Container,
  ContainerFilter,
  ContainerStats,
  ContainerStatsFilter,
  PodSandbox,
  PodSandboxFilter,
} from './gen/node.ts';

type Texts = Readonly<Record<string, string>>;

/** Ids may be cut, as containerd takes them; an empty one asks for nothing. */
const isId = (wanted: string, id: string): boolean => id.startsWith(wanted);

const hasLabels = (wanted: Texts, labels: Texts): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** True for what ListPodSandbox would list. */
export const matchesSandbox = (filter: PodSandboxFilter | undefined, sandbox: PodSandbox): boolean =>
  filter === undefined ||
  (isId(filter.id, sandbox.id) &&
    (filter.state === undefined || filter.state.state === sandbox.state) &&
    hasLabels(filter.labelSelector, sandbox.labels));

/** True for what ListContainers would list. */
export const matchesContainer = (filter: ContainerFilter | undefined, container: Container): boolean =>
  filter === undefined ||
  (isId(filter.id, container.id) &&
    isId(filter.podSandboxId, container.podSandboxId) &&
    (filter.state === undefined || filter.state.state === container.state) &&
    hasLabels(filter.labelSelector, container.labels));

/** True for what ListContainerStats would list. */
export const matchesStats = (
  filter: ContainerStatsFilter | undefined,
  stats: ContainerStats,
  sandboxId: string,
): boolean =>
  filter === undefined ||
  (isId(filter.id, stats.attributes?.id ?? '') &&
    isId(filter.podSandboxId, sandboxId) &&
    hasLabels(filter.labelSelector, stats.attributes?.labels ?? {}));
