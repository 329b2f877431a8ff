import type { Logger } from '../../src/runtime/logging/logger.ts';

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  named: () => silentLogger,
};
