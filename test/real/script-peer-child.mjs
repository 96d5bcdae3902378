import { createInterface } from 'node:readline';
import { PeerCore } from './script-peer-core.mjs';

const METHODS = new Set(['publish', 'update', 'send', 'control', 'sendFrame', 'sendBytes', 'withdraw']);

const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const options = JSON.parse(process.argv[2] ?? '{}');
const peer = new PeerCore(process.env, options, (event) => tell({ event }));
const calls = createInterface({ input: process.stdin });

process.stdout.on('error', () => {});
calls.on('line', onCall);
calls.on('close', onParentGone);

async function onCall(line) {
  const { id, method, params } = JSON.parse(line);
  try {
    if (!METHODS.has(method)) throw new Error(`unknown method ${method}`);
    tell({ id, result: (await peer[method](params)) ?? null });
  } catch (error) {
    tell({ id, error: error.message });
  }
}

async function onParentGone() {
  await peer.withdraw();
  process.exit(0);
}
