import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from '../errors.ts';
import { type Io, print } from './io.ts';

export async function version(io: Io): Promise<number> {
  print(io.stdout, `peer ${packageJson.version}\nnode ${process.versions.node}`);
  return EXIT.ok;
}
