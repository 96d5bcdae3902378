import { list } from './list.ts';
import { runAndExit } from './run.ts';

/**
 * `peer list` and `peer list --json` by themselves, for scripts and prompts that call them all the time: bundled into
 * one CommonJS file, without the parser of the other commands. As an ES module in chunks it takes 20 ms more.
 */
void runAndExit((io) => list({ json: process.argv.includes('--json') }, io));
