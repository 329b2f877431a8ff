import { afterAll } from 'vitest';
import { endAll } from './started.ts';

// A setup file of vitest: no test file has to end what it has started.
afterAll(endAll);
