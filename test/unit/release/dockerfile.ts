/** The instructions of a Dockerfile in order, without comments, continued lines joined. */
export function instructionsOf(text: string): readonly { readonly name: string; readonly rest: string }[] {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
}
