import { runProgram } from './program.ts';
import { runAndExit } from './run.ts';

await runAndExit((io) => runProgram(process.argv.slice(2), io));
