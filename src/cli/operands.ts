import { nearest } from '../runtime/nearest.ts';
import type { Command } from './command.ts';
import type { CommandLine } from './flags.ts';

/** The words that a value's name allows, as `table|json|yaml`; undefined when any text may stand there. */
export const choicesOf = (name: string): readonly string[] | undefined =>
  name.includes('|') ? name.split('|') : undefined;

/** What is wrong with the words that are no flags, one sentence each. */
export function operandProblems(
  { operands = [] }: Pick<Command, 'operands'>,
  { args, problems }: Pick<CommandLine, 'args' | 'problems'>,
): readonly string[] {
  const missing = operands.slice(args.length).map((operand) => `${operand} is missing`);
  // Behind a flag that was not understood it may have been the flag's value.
  const extra = problems.length > 0 ? [] : args.slice(operands.length);
  return [
    ...missing,
    ...operands.flatMap((operand, i) => wrongChoice(operand, args[i])),
    ...extra.map((arg) => `unexpected argument ${JSON.stringify(arg)}`),
  ];
}

function wrongChoice(operand: string, arg: string | undefined): readonly string[] {
  const choices = choicesOf(operand);
  if (choices === undefined || arg === undefined || choices.includes(arg)) return [];
  const guess = nearest(arg, choices);
  const hint = guess === undefined ? '' : `, did you mean ${guess}?`;
  return [`${JSON.stringify(arg)} is none of ${choices.join(', ')}${hint}`];
}
