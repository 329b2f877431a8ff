import {
  Help,
  type CommandUnknownOpts,
  type HelpConfiguration,
  type Option,
} from '@commander-js/extra-typings';
import { LenientCommand } from './option.ts';

/** The heading of the options that belong to one command alone. */
export const ownGroup = 'Options:';

/** The help of a command: `-h` shows its own options, one line each, `--help` everything. */
export const helpOf = (program: string): HelpConfiguration => ({
  // Examples have the name under which the user started the program.
  commandDescription: (command) => command.description().replaceAll(/(?<=^ +|\()dustpan /gm, `${program} `),
  optionTerm: ({ flags }) => flags.replace(/ <(.+)>$/, '=$1').replace(/ \[(.+)\]$/, '[=$1]'),
  formatItem: (term, _width, about, helper) =>
    `  ${term}\n${helper.boxWrap(about, widthOf(helper) - 8).replaceAll(/^/gm, '        ')}`,
  formatHelp: (command, helper) =>
    command instanceof LenientCommand && command.isShortHelp
      ? shortHelp(command, helper)
      : Help.prototype.formatHelp.call(helper, command, helper),
});

/** The terminal's width; commander defaults to 80. */
const widthOf = ({ helpWidth = 80 }: Help): number => helpWidth;

/** Where the texts of `-h` begin at the latest; a longer option has a line of its own. */
const maxMargin = 35;

function shortHelp(command: CommandUnknownOpts, helper: Help): string {
  const [about = '', examples] = helper.commandDescription(command).split('\n\nExamples:\n');
  const usage = helper.commandUsage(command);
  const options = command.options.filter(({ helpGroupHeading = ownGroup }) => helpGroupHeading === ownGroup);
  const margin = Math.min(maxMargin, Math.max(...options.map((one) => termOf(one).length)) + 4);
  const sections = [
    `Usage: ${usage}`,
    helper.boxWrap(twoSentences.exec(about)?.[0] ?? about, widthOf(helper)),
    examples === undefined ? '' : `Examples:\n${examples}`,
    options.length === 0
      ? ''
      : [ownGroup, ...options.map((one) => shortItem(one, margin, helper))].join('\n'),
    `${usage.replace(/ \[.*$/, '')} --help shows all options.\n`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

/** Whether dustpan only reads is often the second. */
const twoSentences = /^[^\n]*?\.(?: [^\n]*?\.)?(?= |\n|$)/;

function termOf({ short, long = '', flags }: Option): string {
  const [, value] = /<(.+)>$/.exec(flags) ?? [];
  return `${short === undefined ? '    ' : `${short}, `}${long}${value === undefined ? '' : `=${value}`}`;
}

function shortItem(option: Option, margin: number, helper: Help): string {
  const { description, argChoices } = option;
  const choices = argChoices === undefined ? '' : ` (${argChoices.join('|')})`;
  const [sentence = ''] = description.split(/[.;](?:\s|$)/, 1);
  const text = helper.boxWrap(`${sentence}${choices}.`, widthOf(helper) - margin);
  const term = `  ${termOf(option)}`;
  const start = term.length > margin - 2 ? `${term}\n${' '.repeat(margin)}` : term.padEnd(margin);
  return start + text.replaceAll('\n', `\n${' '.repeat(margin)}`);
}
