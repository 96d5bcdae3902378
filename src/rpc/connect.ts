import { RpcClient, type RpcListener } from './client.ts';
import { openSocket } from './socket.ts';

/** Connects a JSON-RPC client to the Unix socket at `path`; rejects as `openSocket` does. */
export async function connectRpc(path: string, listener: RpcListener): Promise<RpcClient> {
  const client = new RpcClient(listener);
  const socket = await openSocket(path, {
    onText: (text) => client.handleText(text),
    onClose: () => client.handleClose(),
  });
  client.attach(socket);
  return client;
}
