export interface BindAddress {
  /** undefined = all addresses. */
  readonly host: string | undefined;
  /** 0 = any free port. */
  readonly port: number;
}

/** Parses `:8080`, `127.0.0.1:0` or `[::1]:8080`; 'disabled' for `0` and the empty text, undefined for anything else. */
export function parseBindAddress(text: string): BindAddress | 'disabled' | undefined {
  if (text === '' || text === '0') return 'disabled';
  const [, bracketed, plain = '', digits = ''] =
    /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]/\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return undefined;
  const host = bracketed ?? plain;
  return { host: host === '' ? undefined : host, port };
}
