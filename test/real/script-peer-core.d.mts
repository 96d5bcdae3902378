import type { PeerEvent, PeerIdentity, PeerOptions } from './script-peer-types.ts';

export class PeerCore {
  constructor(env: NodeJS.ProcessEnv, options: PeerOptions, onEvent: (event: PeerEvent) => void);
  publish(): Promise<PeerIdentity>;
  update(fields: object): Promise<null>;
  send(message: unknown): Promise<unknown>;
  control(message: unknown): Promise<unknown>;
  sendFrame(message: unknown): Promise<unknown>;
  sendBytes(message: unknown): Promise<unknown>;
  withdraw(): Promise<void>;
}
