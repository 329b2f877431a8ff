const columns = 80;
const rows = 30;
const cell = { width: 8, height: 18 } as const;
const padding = 16;
const titleBar = 30;
/** Reading time of a paragraph: a minimum, and more for each line. */
const pause = { seconds: 1, secondsPerLine: 0.1 } as const;
/** The drawing then shows the end of the output and moves no more. */
const repetitions = 3;

/** Classes of the SGR codes that the demo prints. */
const styles: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g' };

/** Draws the output of a command as a terminal that scrolls, paragraph by paragraph: an SVG with one text element for each line. */
export function drawing(command: string, output: string): string {
  const lines = [`$ ${command}`, '', ...output.trimEnd().split('\n')];
  const width = columns * cell.width + 2 * padding;
  const height = rows * cell.height + 2 * padding + titleBar;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A terminal that shows the output of ${command}</title>
<style>
${stylesheet(steps(lines))}
</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<circle class="button" cx="20" cy="18" r="5"/><circle class="button" cx="38" cy="18" r="5"/><circle class="button" cx="56" cy="18" r="5"/>
<svg x="${padding}" y="${titleBar + padding}" width="${columns * cell.width}" height="${rows * cell.height}">
<g class="output">
${lines.flatMap(textElement).join('\n')}
</g>
</svg>
</svg>
`;
}

/** When the terminal scrolls: the time of each step in seconds, and how many lines it then shows. */
interface Steps {
  readonly steps: readonly { readonly at: number; readonly shown: number }[];
  readonly seconds: number;
}

/** One step for each paragraph of the output; a paragraph that is higher than the terminal has several. */
function steps(lines: readonly string[]): Steps {
  const ends = lines.flatMap((line, i) => (line === '' || i === lines.length - 1 ? [i + 1] : []));
  let at = 0;
  let before = 0;
  const found = ends.flatMap((end) => {
    const parts = Math.ceil((end - before) / rows);
    return Array.from({ length: parts }, (_, i) => {
      const shown = before + Math.round(((end - before) * (i + 1)) / parts);
      const step = { at: Number(at.toFixed(2)), shown };
      at += pause.seconds + (pause.secondsPerLine * (end - before)) / parts;
      if (i === parts - 1) before = end;
      return step;
    });
  });
  return { steps: found, seconds: Number((at + 3).toFixed(2)) };
}

function stylesheet({ steps, seconds }: Steps): string {
  const offset = (shown: number): string => `transform: translateY(${(rows - shown) * cell.height}px)`;
  const frames = steps.map(({ at, shown }) => `${((100 * at) / seconds).toFixed(2)}% { ${offset(shown)} }`);
  const last = offset(steps.at(-1)?.shown ?? 0);
  return `svg { --back: #ffffff; --fore: #1f2328; --dim: #59636e; --red: #d1242f; --green: #1a7f37; --edge: #d1d9e0 }
@media (prefers-color-scheme: dark) {
  svg { --back: #0d1117; --fore: #f0f6fc; --dim: #9198a1; --red: #f85149; --green: #3fb950; --edge: #3d444d }
}
.window { fill: var(--back); stroke: var(--edge) }
.button { fill: var(--edge) }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; fill: var(--fore); white-space: pre }
.b { font-weight: 700 }
.d { fill: var(--dim) }
.r { fill: var(--red) }
.g { fill: var(--green) }
.output { ${last}; animation: scroll ${seconds}s step-end ${repetitions} }
@media (prefers-reduced-motion: reduce) { .output { animation: none } }
@keyframes scroll { ${frames.join(' ')} 100% { ${last} } }`;
}

/** Nothing for an empty line. */
function textElement(line: string, index: number): string[] {
  const [plain = '', ...styled] = line.split('\u001b[');
  const parts = styled.map((part) => {
    const [, code = '', text = ''] = /^(\d+)m(.*)$/.exec(part) ?? [];
    return { style: styles[code], text };
  });
  const length = plain.length + parts.reduce((sum, { text }) => sum + text.length, 0);
  if (length === 0) return [];
  const spans = parts.map(({ style, text }) =>
    style === undefined || text === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`,
  );
  // The font of the reader may be wider or narrower than a cell.
  const place = `y="${(index + 1) * cell.height - 5}" textLength="${length * cell.width}"`;
  return [`<text ${place}>${escaped(plain)}${spans.join('')}</text>`];
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
