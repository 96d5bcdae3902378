/**
 * A `config.toml` with which Codex 0.171.0 runs on a scripted model: no account, no question at the start, and,
 * with the features off that fetch plugins, no server asking anything of the internet (the TUI still looks for
 * announcements). `trusted` are the absolute folders whose trust is given.
 */
export function scriptedModelConfig(baseUrl: string, trusted: readonly string[]): string {
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${baseUrl}"
wire_api = "responses"
experimental_bearer_token = "made-up"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 60000

[analytics]
enabled = false

[features]
plugins = false
remote_plugin = false
apps = false

[tui]
resume_cwd = "session"
${trusted.map((folder) => `\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`).join('')}`;
}
