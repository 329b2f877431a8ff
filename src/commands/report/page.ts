interface Element {
  textContent: string | null;
  value: string;
  disabled: boolean;
  className: string;
  append(...children: Element[]): void;
  replaceChildren(...children: Element[]): void;
  addEventListener(event: string, listener: () => void): void;
}
declare const document: {
  getElementById(id: string): Element;
  createElement(name: string): Element;
};

/** One row of the table: fate, kind, unit, reason, object, node, policy, due, size, explanation. */
export type Row = readonly [string, string, string, string, string, string, string, string, string, string];

/**
 * Runs in the browser: searches the rows and shows a hundred at a time. Its source becomes a part of the page (html.ts), so it uses nothing from
 * outside. Texts become text nodes, never markup.
 */
export function page(): void {
  const find = (id: string): Element => document.getElementById(id);
  const rows = JSON.parse(find('data').textContent ?? '[]') as Row[];
  const [search, fate, body] = [find('search'), find('fate'), find('rows')];
  const [previous, next, position] = [find('previous'), find('next'), find('position')];
  const perPage = 100;
  let found: readonly Row[] = rows;
  let first = 0;

  const element = (name: string, className: string, text: string): Element => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  };
  const drawn = ([verdict, kind, unit, reason, object, node, policy, due, size, detail]: Row): Element => {
    const row = document.createElement('tr');
    const what = element('td', 'object', '');
    what.append(element('strong', '', object), element('p', '', detail));
    row.append(
      element('td', `fate ${verdict}`, verdict),
      what,
      element('td', '', kind),
      element('td', '', reason),
      element('td', '', unit),
      element('td', '', node),
      element('td', '', policy),
      element('td', '', due),
      element('td', 'number', size),
    );
    return row;
  };
  const draw = (): void => {
    const last = Math.min(first + perPage, found.length);
    body.replaceChildren(...found.slice(first, last).map(drawn));
    const shown = found.length === 0 ? 'No object' : `Objects ${first + 1} to ${last} of ${found.length}`;
    position.textContent = found.length === rows.length ? shown : `${shown} found (${rows.length} in all)`;
    previous.disabled = first === 0;
    next.disabled = last === found.length;
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = (): void => {
    // Otherwise a search that still waits would return to the first hundred later.
    clearTimeout(timer);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = rows.filter((row) => {
      if (fate.value !== '' && row[0] !== fate.value) return false;
      const text = words.length === 0 ? '' : row.join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    first = 0;
    draw();
  };
  search.addEventListener('input', () => {
    clearTimeout(timer);
    // A search of 100 000 rows takes a moment: it waits until the typing pauses.
    timer = setTimeout(update, 150);
  });
  fate.addEventListener('change', update);
  previous.addEventListener('click', () => {
    first = Math.max(0, first - perPage);
    draw();
  });
  next.addEventListener('click', () => {
    first += perPage;
    draw();
  });
  draw();
}
