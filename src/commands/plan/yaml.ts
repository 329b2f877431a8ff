import type { PlanDocument } from './document.ts';
import { decisionsInPiece } from './json.ts';
import { yamlText } from '../cli/yaml-text.ts';

const heading = 'decisions:\n';
/** At the beginning of a line: what is inside of something else is indented. */
const noDecisions = /^decisions: \[\]\n/m;

/** The document as YAML, piece by piece: the whole text of 100 000 decisions would take more memory than the pods. */
export function* planYaml(plan: PlanDocument): Generator<string> {
  const { decisions } = plan;
  const shell = yamlText({ ...plan, decisions: [] });
  const { index, 0: line } = noDecisions.exec(shell) ?? { index: 0, 0: '' };
  yield `${shell.slice(0, index)}${decisions.length === 0 ? line : heading}`;
  for (let from = 0; from < decisions.length; from += decisionsInPiece)
    yield yamlText({ decisions: decisions.slice(from, from + decisionsInPiece) }).slice(heading.length);
  yield shell.slice(index + line.length);
}
