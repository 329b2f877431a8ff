import { formatted, type OutputFormat } from './output.ts';
import { paragraph } from './paragraph.ts';
import type { StatusObjects } from './status-sources.ts';
import { statusTable } from './status-table.ts';
import { statusView } from './status-view.ts';

interface ScreenOptions {
  readonly output: OutputFormat;
  readonly isColourAllowed: boolean;
  /** undefined = what is written does not go to a terminal, or must stay. */
  readonly terminal: { readonly rows: number; readonly columns: number } | undefined;
  readonly write: (text: string) => void;
}

const usualWidth = 80;
const leastWidth = 40;
/** To the upper left; what is behind a line; what is below. */
const [home, clearLine, clearBelow] = ['\u001b[H', '\u001b[K', '\u001b[J'];
const clearScreen = '\u001b[2J';

/** Shows the status again whenever it differs: on a terminal in place, elsewhere one after the other. */
export class StatusScreen {
  readonly #options: ScreenOptions;
  #shown = '';

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  async draw(objects: StatusObjects, now: Date): Promise<void> {
    if (this.#options.terminal === undefined) await this.#append(objects, now);
    else this.#redraw(this.#linesOf(objects, now));
  }

  /** Ages alone are no news. */
  async #append({ policies, reports, notes }: StatusObjects, now: Date): Promise<void> {
    const { output, write } = this.#options;
    const view = statusView(policies, reports, now);
    const news = JSON.stringify([view, notes]);
    if (news === this.#shown) return;
    const between = { table: '\n', json: '', yaml: '---\n' }[output];
    const table = (): string => `${this.#linesOf({ policies, reports, notes }, now).join('\n')}\n`;
    write((this.#shown === '' ? '' : between) + (await formatted(output, view, table)));
    this.#shown = news;
  }

  #linesOf({ policies, reports, notes }: StatusObjects, now: Date): readonly string[] {
    const { terminal, isColourAllowed } = this.#options;
    const width = Math.max(leastWidth, terminal?.columns ?? usualWidth);
    const colours = terminal !== undefined && isColourAllowed;
    const lines = statusTable(statusView(policies, reports, now), { now, width, colours });
    return [...notes.flatMap((note) => paragraph(`! ${note}`, width)), ...lines];
  }

  /** Line by line, so that nothing flickers; what is below the last row would scroll the trouble away. */
  #redraw(lines: readonly string[]): void {
    const { terminal, write } = this.#options;
    const room = Math.max(2, (terminal?.rows ?? lines.length + 1) - 1);
    const over = lines.length - room;
    const fitting = over > 0 ? [...lines.slice(0, room - 1), `… ${over + 1} more lines`] : lines;
    const text = fitting.map((line) => `${line}${clearLine}\n`).join('');
    if (text === this.#shown) return;
    write(`${this.#shown === '' ? clearScreen : ''}${home}${text}${clearBelow}`);
    this.#shown = text;
  }
}
