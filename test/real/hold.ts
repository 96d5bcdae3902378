/** A gate in the model's answer: whoever passes waits until the test releases it; once open it stays open. */
export class Hold {
  #reach!: () => void;
  #release!: () => void;
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  /** Resolves when somebody stands at the gate for the first time. */
  readonly reached = new Promise<void>((resolve) => {
    this.#reach = resolve;
  });

  /** Rejects when `gone` aborts first. */
  pass(gone: AbortSignal): Promise<void> {
    this.#reach();
    const hungUp = new Promise<never>((_, reject) => {
      gone.addEventListener('abort', () => reject(gone.reason), { once: true });
    });
    return Promise.race([this.#released, hungUp]);
  }

  release(): void {
    this.#release();
  }
}
