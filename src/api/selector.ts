import { type Fields, type TextForm, fits, shown } from './fields.ts';
import type { LabelExpression, LabelSelector } from './policy.ts';

type Labels = Readonly<Record<string, string>>;

/** Selects every object. */
export const everything: LabelSelector = { matchLabels: {}, matchExpressions: [] };

/** The label keys that decide whether a selector matches. */
export function selectorKeys({ matchLabels, matchExpressions }: LabelSelector): readonly string[] {
  return [...new Set([...Object.keys(matchLabels), ...matchExpressions.map((expression) => expression.key)])];
}

/** Whether a selector selects everything without a look at any label. */
export function selectsAll({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
const keyForm: TextForm = {
  maxLength: 317,
  pattern: /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  called: 'a label key, such as example.com/team',
};
const valueForm: TextForm = {
  maxLength: 63,
  pattern: /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  called: 'a label value',
};

/** Reads a stored label selector; an absent one selects everything. */
export function parseSelector(fields: Fields): LabelSelector {
  return {
    matchLabels: fields.always('matchLabels', parseLabels),
    matchExpressions: fields.objects('matchExpressions', 32).map((item) => item.all(parseExpression)),
  };
}

function parseLabels(fields: Fields): Labels {
  // A label without a value is the empty value, as the API server has it in other kinds; never "any value".
  const entries = fields.entries().map(([key, value]) => [key, value ?? ''] as const);
  if (entries.length > 32) fields.problem('', `must have at most 32 entries, has ${entries.length}`);
  const labels: [string, string][] = [];
  for (const [key, value] of entries) {
    if (!fits(key, keyForm)) fields.problem('', `must be a map of label keys to values, has ${shown(key)}`);
    else if (!fits(value, valueForm)) fields.problem(key, `must be a label value, is ${shown(value)}`);
    else labels.push([key, value]);
  }
  return Object.fromEntries(labels);
}

function parseExpression(fields: Fields): LabelExpression {
  fields.required('key', 'operator');
  const key = fields.text('key', keyForm) ?? '';
  const operator = fields.oneOf('operator', operators, undefined);
  const values = fields.texts('values', valueForm, { maxItems: 64, unique: false });
  if (operator !== undefined) checkValues(fields, operator);
  return { key, operator: operator ?? 'DoesNotExist', values };
}

function checkValues(fields: Fields, operator: LabelExpression['operator']): void {
  const given = (fields.list('values') ?? []).length > 0;
  const wanted = operator === 'In' || operator === 'NotIn';
  if (wanted && !given) fields.problem('values', 'must be given with the operators In and NotIn');
  if (given && !wanted) fields.problem('values', 'must be empty with the operators Exists and DoesNotExist');
}
