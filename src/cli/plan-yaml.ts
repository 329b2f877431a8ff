import { dump } from 'js-yaml';
import type { PlanDocument } from './plan-document.ts';
import { decisionsInPiece } from './plan-json.ts';

const options = { lineWidth: -1, noRefs: true } as const;
const heading = 'decisions:\n';
/** At the beginning of a line: what is inside of something else is indented. */
const noDecisions = /^decisions: \[\]\n/m;

/** The document as YAML, piece by piece: the whole text of 100 000 decisions would take more memory than the pods. */
export function* planYaml(plan: PlanDocument): Generator<string> {
  const { decisions } = plan;
  const shell = dump({ ...plan, decisions: [] }, options);
  const { index, 0: line } = noDecisions.exec(shell) ?? { index: 0, 0: '' };
  yield `${shell.slice(0, index)}${decisions.length === 0 ? line : heading}`;
  for (let from = 0; from < decisions.length; from += decisionsInPiece)
    yield dump({ decisions: decisions.slice(from, from + decisionsInPiece) }, options).slice(heading.length);
  yield shell.slice(index + line.length);
}
