#!/usr/bin/env node
// Everything below must parse on any Node, so that an old one gets a sentence and not a syntax error.
process.umask(0o077);

function nodeIsTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < 20 || (major === 20 && minor < 19);
}

function stop(text) {
  console.error(text);
  process.exitCode = 1;
}

/** Node 22 and later keep compiled code; in a private folder, since Node's default is the shared /tmp. */
function keepCompiledCode() {
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  const { HOME, XDG_CACHE_HOME } = process.env;
  if (enableCompileCache && HOME) enableCompileCache(`${XDG_CACHE_HOME || `${HOME}/.cache`}/peer/compiled`);
}

/** What is called most is a file of its own: Node's loader of ES modules alone takes longer than all of it. */
async function load() {
  const [command, ...flags] = process.argv.slice(2);
  const isPlainList = command === 'list' && flags.every((flag) => flag === '--json');
  if (isPlainList) require('../dist/list.cjs');
  else await import('../dist/main.js');
}

function onLoadFailure(error) {
  const isMissing = /MODULE_NOT_FOUND$/.test(error.code) && /dist\/(main\.js|list\.cjs)'/.test(error.message);
  if (!isMissing) throw error;
  stop('peer is not built yet: its dist/ is missing. Run `npm run build` in its folder.');
}

if (nodeIsTooOld()) {
  stop(`peer needs Node 20.19 or later; this is ${process.versions.node} (${process.execPath}).`);
} else {
  keepCompiledCode();
  load().catch(onLoadFailure);
}
