import { build } from 'esbuild';

const built = new Map<string, Promise<string>>();

/** TypeScript that imports from the project, as one script for `node -e`. */
export function bundled(code: string): Promise<string> {
  const script = built.get(code) ?? bundle(code);
  built.set(code, script);
  return script;
}

async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, loader: 'ts', resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'node',
    target: 'node20',
    write: false,
  });
  return outputFiles[0]!.text;
}
