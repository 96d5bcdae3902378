import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { memoryRecord } from '../../src/store/memory.ts';
import { message, unknown } from './steps.ts';

it('forgets the oldest of what is settled, and nothing that is open', async () => {
  const record = memoryRecord();
  await record.receive(message('open'));
  for (let index = 0; index <= LIMITS.settledMessages; index++) {
    await record.receive(message(`m${index}`));
    await record.outcome(`m${index}`, unknown);
    await record.delivered(`m${index}`, 'none');
  }
  await expect(record.outcome('m0', unknown)).rejects.toThrow('never recorded');
  expect(await record.outcome('m1', unknown)).toBe(false);
  expect(record.message('open')).toEqual(message('open'));
});
