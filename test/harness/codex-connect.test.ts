import { describe, expect, test } from 'vitest';
import { PeerError } from '../../src/errors.ts';
import { type ConnectPorts, connectAtOpen, reconnect } from '../../src/harness/codex-connect.ts';
import type { Failure } from '../../src/harness/codex-failure.ts';

const blocked: Failure = { kind: 'blocked', error: new PeerError('rights-too-wide', 'too wide') };
const gone: Failure = { kind: 'gone', error: new PeerError('thread-unavailable', 'archived'), cause: 'lost' };

/** A daemon on a clock of its own: `state` says what an attempt meets at a time; null is ready. */
class Scene implements ConnectPorts {
  nowMs = 0;
  attempts = 0;
  /** Times at which the daemon was started by us. */
  readonly starts: number[] = [];
  readonly told: string[] = [];
  isMessageWaiting = false;
  startError: Error | null = null;
  sawStartedByUs = false;
  readonly #state: (scene: Scene) => Failure['kind'] | Failure | null;
  readonly #ending = new AbortController();
  readonly signal = this.#ending.signal;
  readonly clock = {
    now: () => this.nowMs,
    sleep: async (delayMs: number) => {
      this.nowMs += delayMs;
      if (this.nowMs > 200_000) this.#ending.abort();
      this.signal.throwIfAborted();
    },
  };

  constructor(state: (scene: Scene) => Failure['kind'] | Failure | null) {
    this.#state = state;
  }

  async attempt(startedByUs: boolean): Promise<void> {
    this.attempts += 1;
    const failure = this.#state(this);
    if (failure !== null) throw typeof failure === 'string' ? { kind: failure } : failure;
    this.sawStartedByUs = startedByUs;
  }

  classify(error: unknown): Failure {
    return error as Failure;
  }

  async startDaemon(): Promise<boolean> {
    this.starts.push(this.nowMs);
    if (this.startError !== null) throw this.startError;
    return true;
  }

  messageWaits(): boolean {
    return this.isMessageWaiting;
  }

  waiting(waitingFor: string): void {
    if (this.told.at(-1) !== waitingFor) this.told.push(waitingFor);
  }
}

describe('after a lost connection', () => {
  test('a daemon that comes back by itself is polled every 100 ms and not started', async () => {
    const scene = new Scene(({ nowMs }) => (nowMs < 700 ? 'absent' : null));
    expect(await reconnect(scene)).toBeNull();
    expect(scene).toMatchObject({ nowMs: 700, attempts: 8, starts: [], sawStartedByUs: false });
  });

  test('a killed daemon is started after three seconds, once', async () => {
    const scene = new Scene((self) => (self.starts.length === 0 || self.nowMs < 4_000 ? 'refused' : null));
    expect(await reconnect(scene)).toBeNull();
    expect(scene.starts).toEqual([3_000]);
    expect(scene.sawStartedByUs).toBe(true);
  });

  test('a stopped daemon stays stopped while no message waits', async () => {
    const scene = new Scene(() => 'absent');
    await expect(reconnect(scene)).rejects.toThrow();
    expect(scene.starts).toEqual([]);
  });

  test('a stopped daemon is started for a message, but not before five seconds', async () => {
    const early = new Scene((self) => (self.starts.length === 0 ? 'absent' : null));
    early.isMessageWaiting = true;
    await reconnect(early);
    expect(early.starts).toEqual([5_000]);

    const late = new Scene((self) => {
      self.isMessageWaiting = self.nowMs >= 20_000;
      return self.starts.length === 0 ? 'absent' : null;
    });
    await reconnect(late);
    expect(late.starts).toEqual([20_000]);
  });

  test('the seconds count from the last change: a crash after a drain is a crash', async () => {
    const scene = new Scene((self) => {
      if (self.nowMs < 50_000) return 'draining';
      return self.starts.length === 0 ? 'refused' : null;
    });
    await reconnect(scene);
    expect(scene.starts).toEqual([53_000]);
    expect(scene.told).toEqual(['daemon restart', 'Codex daemon']);
  });

  test('a draining daemon is never started, however long it takes', async () => {
    const scene = new Scene(() => 'draining');
    scene.isMessageWaiting = true;
    await expect(reconnect(scene)).rejects.toThrow();
    expect(scene.starts).toEqual([]);
  });

  test('a connection that drops before the thread is ready counts as not connected', async () => {
    const scene = new Scene(({ attempts }) => (attempts < 4 ? 'dropped' : null));
    await reconnect(scene);
    expect(scene.attempts).toBe(4);
  });

  test('what a person may remove is told and tried again less often', async () => {
    const scene = new Scene(({ nowMs }) => (nowMs < 10_000 ? blocked : null));
    await reconnect(scene);
    expect(scene.told).toEqual(['too wide']);
    expect(scene.attempts).toBeLessThan(10);
  });

  test('a daemon that cannot be started is told and tried again after ten seconds', async () => {
    const scene = new Scene((self) => (self.starts.length < 3 ? 'refused' : null));
    scene.startError = new PeerError('daemon-unreachable', 'the disk is full');
    await reconnect(scene);
    expect(scene.starts).toEqual([3_000, 13_000, 23_000]);
    expect(scene.told).toContain('the disk is full');
    expect(scene.sawStartedByUs).toBe(false);
  });

  test('a thread that is gone ends the loop with the reason', async () => {
    const scene = new Scene(() => gone);
    expect(await reconnect(scene)).toBe('lost');
  });
});

describe('at open', () => {
  test.each(['refused', 'absent'] as const)(
    'a daemon that is %s is started at once, and once',
    async (kind) => {
      const scene = new Scene((self) => (self.starts.length === 0 || self.nowMs < 600 ? kind : null));
      await connectAtOpen(scene);
      expect(scene).toMatchObject({ starts: [0], sawStartedByUs: true });
    },
  );

  test('a daemon that was started but cannot be reached is an error after ten seconds', async () => {
    const scene = new Scene(() => 'absent');
    await expect(connectAtOpen(scene)).rejects.toMatchObject({ word: 'daemon-unreachable' });
    expect(scene.starts).toEqual([0]);
    expect(scene.nowMs).toBeGreaterThanOrEqual(10_000);
  });

  test('a draining daemon is waited for, and given time to come back by itself', async () => {
    const scene = new Scene(({ nowMs }) => (nowMs < 60_000 ? 'draining' : nowMs < 61_500 ? 'absent' : null));
    await connectAtOpen(scene);
    expect(scene).toMatchObject({ starts: [], sawStartedByUs: false });
  });

  test('a drain that does not end is an error that says what to do', async () => {
    const scene = new Scene(() => 'draining');
    await expect(connectAtOpen(scene)).rejects.toMatchObject({
      word: 'daemon-draining',
      message: expect.stringContaining('codex app-server daemon stop'),
    });
  });

  test('a daemon that does not come back after a drain is started', async () => {
    const scene = new Scene((self) => {
      if (self.nowMs < 2_000) return 'draining';
      return self.starts.length === 0 ? 'absent' : null;
    });
    await connectAtOpen(scene);
    expect(scene.starts).toHaveLength(1);
  });

  test.each([blocked, gone])('what stands in the way is the error a person sees: $kind', async (failure) => {
    const scene = new Scene(() => failure);
    await expect(connectAtOpen(scene)).rejects.toBe('error' in failure && failure.error);
  });

  test('a daemon that cannot be started is the error a person sees', async () => {
    const scene = new Scene(() => 'absent');
    scene.startError = new PeerError('codex-not-found', 'no codex');
    await expect(connectAtOpen(scene)).rejects.toBe(scene.startError);
  });
});
