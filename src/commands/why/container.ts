import { currentLogs } from '../../agent/containergc/large-logs.ts';
import { resolvedTarget } from '../../agent/containergc/log-names.ts';
import { isAtOrBelow } from '../../node/storage/mounts.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { PlanObject } from '../plan/document.ts';
import type { NodeQuestion } from './question.ts';
import { ambiguous, askedObject, missing, namesOf, unread, type Target } from './found.ts';

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
  if (one === undefined) return absent(`container or sandbox ${text}`, facts, isListed);
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
      id,
      node,
      text: `${shortId(id)} (sandbox of ${podNamespace}/${podName} on ${node})`,
    })),
  ]);
}

/** Longer than usual, to distinguish ids with the same beginning. */
const shortId = (id: string): string => id.slice(0, 16);

const isListed = ({ containers, sandboxes }: NodePart): boolean =>
  containers !== undefined && sandboxes !== undefined;

/** No node has it, of those where `isKnown`. */
function absent(what: string, { parts }: PlanFacts, isKnown: (part: NodePart) => boolean): Target {
  const message = `there is no ${what} on ${namesOf(parts)}, or not any more`;
  const unknown = parts.filter((part) => !isKnown(part));
  return unknown.length === 0
    ? missing(message)
    : unread(`${message}; those of ${namesOf(unknown)} are not all known`);
}

/** A log or an orphaned resource by its path. Everything in a pod's log directory, except rotated logs, is removed or kept with it, and so is a link into it. */
function findLog(question: NodeQuestion, facts: PlanFacts): Target {
  const { text: path } = question;
  const parts = facts.parts.filter((part) => pathsIn(part).some((one) => isAtOrBelow(one, path)));
  if (parts.length === 0)
    return absent(`log or orphaned resource ${path}`, facts, ({ logs }) => logs !== undefined);
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
    object: askedObject(question),
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
