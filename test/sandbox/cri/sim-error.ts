import { status } from '@grpc/grpc-js';

export class SimError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.name = 'SimError';
    this.code = code;
  }
}

export const notFound = (what: string, id: string): SimError =>
  new SimError(status.NOT_FOUND, `an error occurred when try to find ${what} "${id}": not found`);

export const refused = (message: string): SimError => new SimError(status.UNKNOWN, message);
