/** What stands for the file itself where no field can be named. */
export const wholeFile = '(root)';

/** An input file that cannot be used; the message is one line, `file: field: what is wrong`. */
export class InputError extends Error {
  override readonly name = 'InputError';

  constructor(file: string, field: string, what: string) {
    super(`${file}: ${field === '' ? wholeFile : field}: ${what}`);
  }
}
