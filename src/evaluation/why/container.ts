import { currentLogs } from '../../agent/containergc/large-logs.ts';
import { resolvedTarget } from '../../agent/containergc/log-names.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { isAtOrBelow } from '../../node/storage/mounts.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { PlanObject } from '../plan/document.ts';
import { ellipsis, type NodeQuestion } from './question.ts';
import { ambiguous, askedObject, missing, namesOf, unread, type Target } from './found.ts';

export function findContainer(question: NodeQuestion, facts: PlanFacts): Target {
  const { text } = question;
  if (text.startsWith('/')) return findLog(question, facts);
  return text.includes(ellipsis) ? findCutPath(question, facts) : findById(question, facts);
}

interface Candidate {
  readonly kind: 'container' | 'sandbox' | 'leftover';
  readonly id: string;
  readonly node: string;
  /** `namespace/name`. */
  readonly pod: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

function findById(question: NodeQuestion, facts: PlanFacts): Target {
  const { kind, text } = question;
  const all = candidatesOf(facts).filter((candidate) => kind === 'container' || candidate.kind === kind);
  const exact = all.filter(({ id }) => id === text);
  const found =
    exact.length > 0
      ? exact
      : all.filter(
          (candidate) =>
            candidate.kind !== 'leftover' && text.split(' ').every((word) => isNamed(candidate, word)),
        );
  const [first] = found;
  if (first === undefined) return absent(`container or sandbox ${text}`, facts, isListed);
  // Attempts of one container, or of one sandbox, are explained together.
  const isOne = ({ kind: other, node, pod, name }: Candidate): boolean =>
    text.includes('/') &&
    other === first.kind &&
    node === first.node &&
    pod === first.pod &&
    name === first.name;
  if (found.length > 1 && !found.every(isOne))
    return ambiguous(
      text,
      found.map((candidate) => candidate.text),
    );
  return {
    kind: 'found',
    object: askedObject(question),
    facts: { ...facts, parts: facts.parts.filter(({ name }) => name === first.node) },
    only: (object) =>
      object.kind !== 'Pod' && object.kind !== 'Image' && found.some(({ id }) => id === object.id),
  };
}

/** Whether a word, one of those in the table of `plan`, is about this object. */
const isNamed = ({ id, pod, name }: Candidate, word: string): boolean =>
  id.startsWith(word) || word === pod || word === name || word === `${pod ?? ''}/${name ?? ''}`;

/** Finds the path that the table of `plan` has cut: a log file without the UID of its pod, the others without their beginning. */
function findCutPath(question: NodeQuestion, facts: PlanFacts): Target {
  const { text } = question;
  const quoted = text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const anywhere = quoted.replaceAll('/', '(?:_[^/]*)?/').replaceAll(ellipsis, '.*?');
  const pattern = new RegExp(`^(${anywhere})(?:/|$)`);
  const paths = new Set(facts.parts.flatMap(pathsIn).flatMap((path) => pattern.exec(path)?.[1] ?? []));
  const [path] = paths;
  if (path === undefined)
    return absent(`log, orphaned resource or checkpoint ${text}`, facts, isListedAt(text));
  return paths.size > 1 ? ambiguous(text, [...paths]) : findLog({ ...question, text: path }, facts);
}

function candidatesOf({ parts }: PlanFacts): readonly Candidate[] {
  return parts.flatMap(({ name: node, containers = [], sandboxes = [], leftovers = [] }) => [
    ...containers.map((container) => ({
      kind: 'container' as const,
      id: container.id,
      node,
      pod: podOf(container),
      name: container.name,
      text: `${shortId(container.id)} (container ${container.name} on ${node})`,
    })),
    ...sandboxes.map((sandbox) => ({
      kind: 'sandbox' as const,
      id: sandbox.id,
      node,
      pod: podOf(sandbox),
      name: undefined,
      text: `${shortId(sandbox.id)} (sandbox of ${sandbox.podNamespace}/${sandbox.podName} on ${node})`,
    })),
    ...leftovers.map(({ id, name }) => ({
      kind: 'leftover' as const,
      id,
      node,
      pod: undefined,
      name,
      text: `${id} (leftover on ${node})`,
    })),
  ]);
}

function podOf(labelled: Parameters<typeof podRefOf>[0]): string | undefined {
  const { namespace, name } = podRefOf(labelled);
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
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

/** Whether all paths of a node are known that a path, or a part of one, may mean. */
const isListedAt =
  (path: string) =>
  ({ logs, checkpoints }: NodePart): boolean =>
    logs !== undefined && (!path.includes('checkpoint') || checkpoints?.complete === true);

/** A log, an orphaned resource or a checkpoint by its path. Everything in a pod's log directory, except rotated logs, is removed or kept with it, and so is a link into it. */
function findLog(question: NodeQuestion, facts: PlanFacts): Target {
  const { text: path } = question;
  const parts = facts.parts.filter((part) => pathsIn(part).some((known) => isAtOrBelow(known, path)));
  if (parts.length === 0)
    return absent(`log, orphaned resource or checkpoint ${path}`, facts, isListedAt(path));
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

const pathsIn = ({ logs, orphans, checkpoints }: NodePart): readonly string[] => [
  ...(logs?.entries.map((entry) => entry.path) ?? []),
  ...(logs?.directories ?? []),
  ...Object.values(orphans ?? {}).flatMap((found) => found?.map(({ path }) => path) ?? []),
  ...(checkpoints?.files.map(({ path }) => path) ?? []),
];
const idOf = (object: PlanObject): string => ('id' in object ? object.id : '');

function isLogOf(object: PlanObject, paths: readonly string[]): boolean {
  if (object.kind === 'Pod' || object.path === undefined) return false;
  const { kind, path } = object;
  return paths.some((known) => known === path || (kind === 'LogDirectory' && isAtOrBelow(known, path)));
}
