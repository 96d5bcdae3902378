import { fetchPrograms } from '../../test/real/fetch.mjs';

/** Installs the pinned Codex and Claude Code when they are missing. */
export default function setup(): void {
  fetchPrograms();
}
