import { currentLogs } from '../../agent/containergc/large-logs.ts';
import { resolvedTarget } from '../../agent/containergc/log-names.ts';
import { isAtOrBelow } from '../../node/storage/mounts.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { PlanObject } from '../plan/document.ts';
import type { NodeQuestion } from './question.ts';
import { ambiguous, askedObject, missing, type Target } from './found.ts';

/** Finds the container or sandbox whose id begins with the text, or the log at a path. */
export function findContainer(question: NodeQuestion, facts: PlanFacts): Target {
  return question.text.startsWith('/') ? findLog(question, facts) : findById(question, facts);
}

interface Candidate {
  readonly id: string;
  readonly node: string;
  readonly text: string;
}

function findById(question: NodeQuestion, facts: PlanFacts): Target {
  const { text } = question;
  const all = candidatesOf(facts);
  const exact = all.filter(({ id }) => id === text);
  const found = exact.length > 0 ? exact : all.filter(({ id }) => id.startsWith(text));
  const [one] = found;
  if (one === undefined) return missing(missingText(text, facts));
  if (found.length > 1)
    return ambiguous(
      text,
      found.map((candidate) => candidate.text),
    );
  return {
    kind: 'found',
    object: askedObject(question),
    facts: { ...facts, parts: facts.parts.filter(({ name }) => name === one.node) },
    only: (object) => object.kind !== 'Pod' && object.kind !== 'Image' && object.id === one.id,
  };
}

function candidatesOf({ parts }: PlanFacts): readonly Candidate[] {
  return parts.flatMap(({ name: node, containers = [], sandboxes = [] }) => [
    ...containers.map(({ id, name }) => ({
      id,
      node,
      text: `${shortId(id)} (container ${name} on ${node})`,
    })),
    ...sandboxes.map(({ id, podNamespace, podName }) => ({
      ...{ id, node },
      text: `${shortId(id)} (sandbox of ${podNamespace}/${podName} on ${node})`,
    })),
  ]);
}

/** Longer than usual, to distinguish ids with the same beginning. */
const shortId = (id: string): string => id.slice(0, 16);

function missingText(text: string, { parts }: PlanFacts): string {
  const unknown = parts.filter(
    ({ containers, sandboxes }) => containers === undefined || sandboxes === undefined,
  );
  const nodes = parts.map(({ name }) => name).join(', ');
  const blind = unknown.map(({ name }) => name).join(', ');
  const but = blind === '' ? '' : `; those of ${blind} are not all known`;
  return `there is no container or sandbox ${text} on ${nodes}, or not any more${but}`;
}

/** A log or an orphaned resource by its path. Everything in a pod's log directory, except rotated logs, is removed or kept with it, and so is a link into it. */
function findLog(question: NodeQuestion, facts: PlanFacts): Target {
  const { text } = question;
  const path = text.length > 1 ? text.replace(/\/+$/, '') : text;
  const parts = facts.parts.filter((part) => pathsIn(part).some((one) => isAtOrBelow(one, path)));
  if (parts.length === 0)
    return missing(
      `there is no log or orphaned resource ${path} on ${facts.parts.map(({ name }) => name).join(', ')}`,
    );
  const targets = parts.flatMap(({ logs }) =>
    (logs?.entries ?? []).flatMap((entry) =>
      entry.path === path && entry.target !== undefined ? [resolvedTarget(path, entry.target)] : [],
    ),
  );
  const isCurrent = (current: string): boolean => [path, ...targets].includes(current);
  const written = parts.flatMap((part) => currentLogs(part)).filter((log) => isCurrent(log.path));
  const writers = new Set(written.map(({ container }) => container.id));
  return {
    kind: 'found',
    object: askedObject({ ...question, text: path }),
    facts: { ...facts, parts },
    only: (object, verdict) =>
      verdict === 'Warn' ? writers.has(idOf(object)) : isLogOf(object, [path, ...targets]),
    path,
  };
}

const pathsIn = ({ logs, orphans }: NodePart): readonly string[] => [
  ...(logs?.entries.map((entry) => entry.path) ?? []),
  ...(logs?.directories ?? []),
  ...Object.values(orphans ?? {}).flatMap((found) => found?.map(({ path }) => path) ?? []),
];
const idOf = (object: PlanObject): string => ('id' in object ? object.id : '');

function isLogOf(object: PlanObject, paths: readonly string[]): boolean {
  if (object.kind === 'Pod' || object.path === undefined) return false;
  const { kind, path } = object;
  return paths.some((one) => one === path || (kind === 'LogDirectory' && isAtOrBelow(one, path)));
}
