import { badRequest } from './failure.ts';
import { asList, asObject, asText, type JsonObject, type KubeObject } from './json.ts';
import type { Rules } from './rules.ts';

export type Matcher = (object: KubeObject) => boolean;

const everything: Matcher = () => true;

/** Both selectors of a list or watch; undefined when it has none. */
export function selectorOf(query: URLSearchParams, rules: Rules): Matcher | undefined {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  if (labels === '' && fields === '') return undefined;
  const byLabels = labelSelector(labels);
  const byFields = fieldSelector(fields, rules);
  return (object) => byLabels(object) && byFields(object);
}

const key = String.raw`[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?`;
const value = String.raw`(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?`;
const setForm = new RegExp(String.raw`^(${key})\s+(in|notin)\s*\(([^()]*)\)$`);
const equalForm = new RegExp(String.raw`^(${key})\s*(==|=|!=)\s*(${value})$`);
const existsForm = new RegExp(String.raw`^(!?)\s*(${key})$`);

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

function labelSelector(text: string): Matcher {
  if (text.trim() === '') return everything;
  const tests = splitRequirements(text).map(labelTest);
  return ({ metadata }) => tests.every((matches) => matches(metadata.labels ?? {}));
}

/** Commas inside of parentheses belong to a set. */
const splitRequirements = (text: string): readonly string[] =>
  text.split(/,(?![^(]*\))/).map((part) => part.trim());

function labelTest(requirement: string): LabelTest {
  const set = setForm.exec(requirement);
  if (set !== null) return setTest(set);
  const equal = equalForm.exec(requirement);
  if (equal !== null) return equalTest(equal);
  const exists = existsForm.exec(requirement);
  if (exists === null) throw badRequest(`unable to parse requirement: ${requirement}`);
  const [, not = '', name = ''] = exists;
  return (labels) => name in labels === (not === '');
}

function setTest([, name = '', operator = '', list = '']: RegExpExecArray): LabelTest {
  const values = list.split(',').map((item) => item.trim());
  const wanted = operator === 'in';
  return (labels) => {
    const label = labels[name];
    return label === undefined ? !wanted : values.includes(label) === wanted;
  };
}

function equalTest([, name = '', operator = '', wanted = '']: RegExpExecArray): LabelTest {
  return (labels) => (labels[name] === wanted) === (operator !== '!=');
}

const fieldForm = /^([A-Za-z0-9_.]+)(==|=|!=)(.*)$/;

function fieldSelector(text: string, rules: Rules): Matcher {
  if (text === '') return everything;
  const tests = text.split(',').map((term) => fieldTest(term, text, rules));
  return (object) => tests.every((matches) => matches(object));
}

function fieldTest(term: string, whole: string, rules: Rules): Matcher {
  const parsed = fieldForm.exec(term);
  if (parsed === null) throw badRequest(`invalid selector: '${whole}'; can't understand '${term}'`);
  const [, name = '', operator = '', wanted = ''] = parsed;
  const read = fieldReader(name, rules);
  return (object) => (read(object) === wanted) === (operator !== '!=');
}

function fieldReader(name: string, rules: Rules): (object: KubeObject) => string {
  if (name === 'metadata.name') return ({ metadata }) => metadata.name;
  if (name === 'metadata.namespace') return ({ metadata }) => metadata.namespace ?? '';
  const probe = rules.fields({ apiVersion: '', kind: '', metadata: nothing });
  if (!(name in probe)) throw badRequest(`field label not supported: ${name}`);
  return (object) => rules.fields(object)[name] ?? '';
}

const nothing = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };

/** The name that a field selector pins, as RBAC sees it; '' for none. */
export function pinnedName(query: URLSearchParams): string {
  return /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

/** metav1.LabelSelector, as budgets carry it. */
export function matchesLabelSelector(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels, matchExpressions } = asObject(selector);
  const equal = Object.entries(asObject(matchLabels)).every(([name, wanted]) => labels[name] === wanted);
  return (
    equal &&
    asList(matchExpressions)
      .map(asObject)
      .every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression(expression: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const label = labels[asText(expression['key'])];
  const isAmong = label !== undefined && asList(expression['values']).includes(label);
  switch (expression['operator']) {
    case 'In':
      return isAmong;
    case 'NotIn':
      return !isAmong;
    case 'Exists':
      return label !== undefined;
    default:
      return label === undefined;
  }
}
