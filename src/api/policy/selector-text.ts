import type { LabelExpression, LabelSelector } from './policy.ts';

type Parsed = LabelSelector | { readonly problem: string };

/** Parses a selector in the syntax of `kubectl get -l`: `app=web,tier!=cache,env in (dev,test),!legacy`. */
export function parseSelector(text: string): Parsed {
  const matchExpressions: LabelExpression[] = [];
  // Only at a comma outside of parentheses.
  for (const part of text.split(/,(?![^()]*\))/)) {
    const expression = expressionOf(part.trim());
    if (expression === undefined) return { problem: `${JSON.stringify(part.trim())}: ${forms}` };
    const problem = problemOf(expression);
    if (problem !== undefined) return { problem };
    matchExpressions.push(expression);
  }
  return { matchLabels: {}, matchExpressions };
}

const forms = 'use KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, separated by commas';

/** The operators and the expressions that have them, with the key first and the values second. */
const syntax = [
  ['In', /^([^\s=!()<>]+)\s*==?\s*([^\s=!()]*)$/],
  ['NotIn', /^([^\s=!()<>]+)\s*!=\s*([^\s=!()]*)$/],
  ['In', /^([^\s=!()<>]+)\s+in\s*\(([^()]+)\)$/],
  ['NotIn', /^([^\s=!()<>]+)\s+notin\s*\(([^()]+)\)$/],
  ['Exists', /^([^\s=!()<>]+)$/],
  ['DoesNotExist', /^!\s*([^\s=!()<>]+)$/],
] as const;

/** undefined = it has none of the forms. */
function expressionOf(part: string): LabelExpression | undefined {
  for (const [operator, form] of syntax) {
    const [, key, list] = form.exec(part) ?? [];
    if (key !== undefined)
      return { key, operator, values: list?.split(',').map((value) => value.trim()) ?? [] };
  }
  return undefined;
}

/** A name with letters and digits at both ends, as Kubernetes accepts it in labels. */
const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function problemOf({ key, values }: LabelExpression): string | undefined {
  const slash = key.indexOf('/');
  const isKey = name.test(key.slice(slash + 1)) && (slash === -1 || domain.test(key.slice(0, slash)));
  if (!isKey) return `${JSON.stringify(key)} is not the key of a label`;
  const wrong = values.find((value) => value !== '' && !name.test(value));
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is not the value of a label`;
}
