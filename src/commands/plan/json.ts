import { jsonText } from '../cli/output.ts';
import type { PlanDocument } from './document.ts';

/** Some hundred kilobytes of text. */
export const decisionsInPiece = 500;
const placeholder = '"@"';

/** The document as JSON, piece by piece: the whole text of 100 000 decisions would take more memory than the pods. */
export function* planJson(plan: PlanDocument): Generator<string> {
  const { decisions } = plan;
  const shell = jsonText({ ...plan, decisions: decisions.length === 0 ? [] : ['@'] });
  const at = decisions.length === 0 ? shell.length : shell.indexOf(placeholder);
  yield shell.slice(0, at);
  for (let from = 0; from < decisions.length; from += decisionsInPiece) {
    const texts = decisions
      .slice(from, from + decisionsInPiece)
      .map((one) => jsonText(one).replaceAll('\n', '\n    '));
    yield `${from === 0 ? '' : ',\n    '}${texts.join(',\n    ')}`;
  }
  yield `${shell.slice(at + placeholder.length)}\n`;
}
