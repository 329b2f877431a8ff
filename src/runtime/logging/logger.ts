/** Messages are constant and lowercase; variable facts are fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  named(name: string): Logger;
}
