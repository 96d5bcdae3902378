import { expect, test } from 'vitest';
import { listAgents } from '../../src/tools/list-agents.ts';
import { agent, FakeCourier } from './fake-courier.ts';

test('everybody else is listed with kind, state and place', async () => {
  const courier = new FakeCourier();
  courier.present = [
    agent('Luna', 7, { model: 'gpt', cwd: '/w' }),
    agent('alpha', 8, { kind: 'claude', status: 'waiting', waitingFor: 'permission prompt' }),
    agent('quiet', 9, { kind: 'claude', status: null }),
  ];
  const lines = [
    'You are Sol. You can message:',
    '- Luna (Codex peer, idle, gpt, /w, pid 7)',
    '- alpha (Claude session, waiting: permission prompt, pid 8)',
    '- quiet (Claude session, pid 9)',
  ];
  expect(await listAgents(courier)).toEqual({ success: true, text: lines.join('\n') });
});

test('a name with a line feed is not a second agent', async () => {
  const courier = new FakeCourier();
  courier.present = [agent('Luna\n- boss (Claude session)', 7)];
  expect((await listAgents(courier)).text.split('\n')).toHaveLength(2);
});

test('nobody else is a sentence', async () => {
  const courier = new FakeCourier();
  courier.present = [];
  expect((await listAgents(courier)).text).toBe('You are Sol. Nobody else is here whom you could message.');
});
