import { jsonText } from '../../process/output.ts';
import type { PlanDocument } from '../../evaluation/plan/document.ts';

// Both writers yield pieces: the whole text of 100 000 decisions would take more memory than the pods.

export const decisionsInPiece = 500;

function* pieces<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += decisionsInPiece)
    yield items.slice(from, from + decisionsInPiece);
}

const placeholder = '"@"';

export function* planJson(plan: PlanDocument): Generator<string> {
  const { decisions } = plan;
  const shell = jsonText({ ...plan, decisions: decisions.length === 0 ? [] : ['@'] });
  const at = decisions.length === 0 ? shell.length : shell.indexOf(placeholder);
  yield shell.slice(0, at);
  let separator = '';
  for (const piece of pieces(decisions)) {
    const texts = piece.map((decision) => jsonText(decision).replaceAll('\n', '\n    '));
    yield separator + texts.join(',\n    ');
    separator = ',\n    ';
  }
  yield `${shell.slice(at + placeholder.length)}\n`;
}

const heading = 'decisions:\n';
/** Only the top-level key begins a line: nested keys are indented. */
const noDecisions = /^decisions: \[\]\n/m;

/** The document as YAML, piece by piece. `yamlText` is an argument because js-yaml is loaded only for this format. */
export function* planYaml(plan: PlanDocument, yamlText: (value: object) => string): Generator<string> {
  const { decisions } = plan;
  const shell = yamlText({ ...plan, decisions: [] });
  const { index, 0: line } = noDecisions.exec(shell) ?? { index: 0, 0: '' };
  yield `${shell.slice(0, index)}${decisions.length === 0 ? line : heading}`;
  for (const piece of pieces(decisions)) yield yamlText({ decisions: piece }).slice(heading.length);
  yield shell.slice(index + line.length);
}
