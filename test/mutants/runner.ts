import { createVitest, type TestSpecification, type Vitest } from 'vitest/node';

/** A file as the tests are to see it. */
interface Broken {
  readonly path: string;
  readonly text: string;
}

/** One test runner for all mutants: what is broken it gets from us in place of the file, which stays as it is. */
export class MutantRunner {
  readonly #vitest: Vitest;
  readonly #served: Served;

  private constructor(vitest: Vitest, served: Served) {
    this.#vitest = vitest;
    this.#served = served;
  }

  static async start(): Promise<MutantRunner> {
    const served: Served = { broken: undefined };
    const options: Parameters<typeof createVitest>[1] = {
      config: false,
      watch: false,
      bail: 1,
      pool: 'threads',
      include: ['test/unit/**/*.test.ts'],
      reporters: [{}],
    };
    const vitest = await createVitest('test', options, {
      define: { __DUSTPAN_VERSION__: '"test"', __DUSTPAN_REVISION__: '"test"' },
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          load: (id) => (id === served.broken?.path ? served.broken.text : undefined),
        },
      ],
    });
    await vitest.standalone();
    return new MutantRunner(vitest, served);
  }

  /** The files of these tests that fail; property tests, which are slow and here for other reasons, are not among them. */
  async failing(tests: readonly string[], broken: Broken | undefined): Promise<readonly string[]> {
    const files = await this.#specifications(tests);
    const last = this.#served.broken;
    this.#served.broken = broken;
    for (const changed of [last, broken])
      if (changed !== undefined) this.#vitest.invalidateFile(changed.path);
    const { testModules } = await this.#vitest.runTestSpecifications(files);
    // It tells of all that it has ever run.
    const run = new Set(files.map(({ moduleId }) => moduleId));
    return testModules.filter((one) => run.has(one.moduleId) && !one.ok()).map(({ moduleId }) => moduleId);
  }

  async #specifications(tests: readonly string[]): Promise<TestSpecification[]> {
    const all = await this.#vitest.globTestSpecifications();
    const found = all.filter(
      ({ moduleId }) =>
        tests.some((start) => moduleId.includes(`/${start}`)) && !/[./]property\.test\.ts$/.test(moduleId),
    );
    if (found.length === 0) throw new Error(`no tests: ${tests.join()}`);
    return found;
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }
}

interface Served {
  broken: Broken | undefined;
}
