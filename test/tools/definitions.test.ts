import { expect, test } from 'vitest';
import { TOOLS } from '../../src/tools/definitions.ts';

const described = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'description' in value
    ? { ...value, description: undefined }
    : value;

test('names and schemas are as in the first release: threads keep them for ever', () => {
  const schemas = TOOLS.map(({ name, inputSchema }) => [
    name,
    JSON.parse(JSON.stringify(inputSchema, described)),
  ]);
  expect(schemas).toEqual([
    ['list_agents', { type: 'object', properties: {}, additionalProperties: false }],
    [
      'send_message',
      {
        type: 'object',
        properties: {
          to: { type: 'string' },
          text: { type: 'string' },
          notify_when_idle: { type: 'boolean' },
        },
        required: ['to', 'text'],
        additionalProperties: false,
      },
    ],
    [
      'ask',
      {
        type: 'object',
        properties: {
          to: { type: 'string' },
          text: { type: 'string' },
          deadline_seconds: { type: 'number' },
        },
        required: ['to', 'text'],
        additionalProperties: false,
      },
    ],
  ]);
});

test('what a model reads of each stays short', () => {
  for (const { description } of TOOLS) expect(description.length).toBeLessThan(400);
});
