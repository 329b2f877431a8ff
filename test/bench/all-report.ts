/** How one benchmark of several ended. */
export interface Ended {
  readonly name: string;
  readonly code: number;
  readonly seconds: number;
}

/** A line for each benchmark, those that failed with their exit code. */
export function endedLines(all: readonly Ended[]): string[] {
  const width = Math.max(...all.map(({ name }) => name.length));
  return all.map(({ name, code, seconds }) => {
    const result = code === 0 ? 'ok' : `failed with ${code}`;
    return `${name.padEnd(width)}  ${minutes(seconds).padStart(6)}  ${result}`;
  });
}

/** 3:07 for 187 seconds. */
export function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
