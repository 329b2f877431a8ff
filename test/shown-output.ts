/** A command of a page, as a script, and the output that the page shows below it. */
interface ShownCommand {
  readonly script: string;
  readonly shown: string | undefined;
}

/** The blocks of a page, each with the block of text that follows it. */
export const shownCommands = (page: string): readonly ShownCommand[] =>
  [...page.matchAll(/^```\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm)].map(
    ([, script = '', shown]) => ({ script, shown }),
  );

/**
 * The shown lines that the output lacks, in this order. A word with a digit stands for any word, because ages and names differ; `…` stands for
 * any text, alone in its line for any lines.
 */
export function missingLines(shown: string, output: string): readonly string[] {
  const lines = output.split('\n');
  let next = 0;
  return shown.split('\n').filter((line) => {
    if (line.trim() === '' || line.trim() === '…') return false;
    const found = lines.findIndex((one, i) => i >= next && formOf(line).test(one));
    if (found >= 0) next = found + 1;
    return found < 0;
  });
}

const formOf = (line: string): RegExp =>
  new RegExp(`^\\s*${line.trim().split(/\s+/).map(wordForm).join('\\s+')}\\s*$`);

function wordForm(word: string): string {
  if (word === '…') return '.*';
  if (/\d/.test(word)) return '\\S+';
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '\\S*');
}
