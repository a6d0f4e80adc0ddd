import { DefaultReporter, type TestModule, type TestSpecification } from "vitest/node";

const SLOWEST = 10;

/** Prints test files that failed, a line of progress now and then, a summary, and the slowest files. */
export class ShortReporter extends DefaultReporter {
  #files = 0;
  #ended = 0;
  #told = 0;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    super.onTestRunStart(specifications);
  }

  protected override printTestModule(testModule: TestModule): void {
    this.#ended += 1;
    if (testModule.state() === "failed") super.printTestModule(testModule);
    const share = Math.floor((this.#ended / this.#files) * 10);
    if (this.#files < SLOWEST || share === this.#told) return;
    this.#told = share;
    this.log(` ${this.#ended} of ${this.#files} files`);
  }

  override onTestRunEnd(
    testModules: readonly TestModule[],
    errors: Parameters<DefaultReporter["onTestRunEnd"]>[1],
    reason: Parameters<DefaultReporter["onTestRunEnd"]>[2],
  ): void {
    super.onTestRunEnd(testModules, errors, reason);
    if (testModules.length < SLOWEST) return;
    const seconds = (testModule: TestModule) => testModule.diagnostic().duration / 1000;
    const slowest = testModules.toSorted((one, other) => seconds(other) - seconds(one)).slice(0, SLOWEST);
    this.log(` The ${SLOWEST} slowest files:`);
    for (const testModule of slowest) {
      this.log(`  ${seconds(testModule).toFixed(1).padStart(6)} s  ${testModule.relativeModuleId}`);
    }
  }
}
