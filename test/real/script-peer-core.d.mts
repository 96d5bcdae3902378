import type { PeerEvent, PeerOptions } from './script-peer-types.ts';

export class PeerCore {
  constructor(env: NodeJS.ProcessEnv, options: PeerOptions, tell: (event: PeerEvent) => void);
  publish(params: object): Promise<unknown>;
  update(fields: object): Promise<unknown>;
  send(message: object): Promise<unknown>;
  control(frame: object): Promise<unknown>;
  sendFrame(frame: object): Promise<unknown>;
  sendBytes(bytes: object): Promise<unknown>;
  withdraw(): Promise<void>;
}
