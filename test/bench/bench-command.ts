/** Arguments that one option holds, separated by spaces. */
export function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

/** Variables that one option holds: NAME=VALUE, separated by spaces. */
export function pairs(text: string): Record<string, string> {
  return Object.fromEntries(words(text).map((word) => word.split('=') as [string, string]));
}

/** What to type for the same again. */
export function commandLine(script: string): string {
  const said = process.argv.slice(2).filter((arg, i, all) => !isOutput(arg) && all[i - 1] !== '--json');
  const args = said.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg));
  return [`npm run ${script}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
}

function isOutput(arg: string): boolean {
  return arg === '--write' || arg === '--json';
}

/** One line of progress. */
export function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
