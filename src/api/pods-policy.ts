import type { Fields, TextForm } from './fields.ts';
import type { PodsPolicy, TerminatedPolicy, TtlRule } from './policy.ts';
import { parseSelector } from './selector.ts';

const count = { min: 0, max: 1_000_000 };
const percent = { min: 0, max: 100 };
const namespaceForm: TextForm = {
  maxLength: 63,
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  called: 'the name of a namespace',
};
const reasonForm: TextForm = { maxLength: 128, pattern: /^[^]/, called: 'a text of 1 to 128 characters' };
const messageForm: TextForm = { maxLength: 256, pattern: /^/, called: 'a text of at most 256 characters' };

/** Reads spec.pods; absent blocks stay off, fields get the defaults of crds/. */
export function parsePods(fields: Fields): PodsPolicy {
  const excluded = fields.texts('excludeNamespaces', namespaceForm, { maxItems: 256, unique: true });
  return {
    namespaceSelector: fields.always('namespaceSelector', parseSelector),
    excludeNamespaces: new Set(excluded),
    podSelector: fields.always('podSelector', parseSelector),
    terminated: fields.block('terminated', parseTerminated),
    orphaned: fields.block('orphaned', (orphaned) => ({
      quarantineMs: orphaned.durationMs('quarantine', 40_000),
    })),
    unscheduledTerminating: fields.block('unscheduledTerminating', on) ?? false,
    outOfService: fields.block('outOfService', on) ?? false,
    safety: fields.always('safety', parseSafety),
  };
}

/** A block without fields: being there is all it says. */
const on = (): boolean => true;

function parseSafety(fields: Fields): PodsPolicy['safety'] {
  return {
    maxDeletesPerPass: fields.integer('maxDeletesPerPass', 0, count),
    maxOrphanedNodesPercent: fields.integer('maxOrphanedNodesPercent', 20, percent),
  };
}

function parseTerminated(fields: Fields): TerminatedPolicy {
  const perNamespace = fields.integer('perNamespaceThreshold', 0);
  return {
    threshold: fields.integer('threshold', 12_500),
    perNamespaceThreshold: perNamespace > 0 ? perNamespace : undefined,
    ttlAfterFinishedMs: fields.durationMs('ttlAfterFinished', undefined),
    ttlByReason: fields.objects('ttlByReason', 32).map((rule) => rule.all(parseTtlRule)),
    keepPerOwner: fields.integer('keepPerOwner', 0, count),
    protectUnfinishedJobs: fields.boolean('protectUnfinishedJobs', false),
  };
}

function parseTtlRule(fields: Fields): TtlRule {
  fields.required('ttl');
  const ttlMs = fields.durationMs('ttl', undefined);
  const phase = fields.oneOf('phase', ['Succeeded', 'Failed'], undefined);
  const reason = fields.text('reason', reasonForm);
  const messagePattern = fields.text('messagePattern', messageForm);
  // The empty pattern matches everything, so it is no matcher.
  const given = { phase, reason, messagePattern: messagePattern === '' ? undefined : messagePattern };
  if (!fields.hasAny('phase', 'reason') && given.messagePattern === undefined) {
    fields.problem('', 'must be given at least one of phase, reason and messagePattern');
  }
  return { ...given, ttlMs: ttlMs ?? Infinity };
}
