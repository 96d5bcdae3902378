import { EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import { type Io, print } from './io.ts';

export async function version(io: Io): Promise<number> {
  print(io.stdout, `peer ${VERSION}\nnode ${process.versions.node}`);
  return EXIT.ok;
}
