#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/transcribe_command.h"
#include "device/emulated_spec.h"
#include "device/list/device_list.h"
#include "device/machine_devices.h"
#include "jobs/open_store.h"
#include "link/engine_command.h"
#include "net/url_fetch.h"
#include "serve/server.h"

namespace tutti {
namespace {

struct ServeCommand {
  TranscribeCommand speech{};
  std::string listen = "127.0.0.1:8000";
  std::filesystem::path token_file{};
  std::filesystem::path tls_cert{};
  std::filesystem::path tls_key{};
  std::string also_called{};
  std::string devices = "auto";
  std::filesystem::path state{};
  std::filesystem::path voice{};
  std::string max_upload = "2GiB";
  double longest = 12;  // hours
  double drain = 600;
  bool no_dashboard = false;
  std::filesystem::path allow_root{};
  std::string url_hosts{};
  int jobs_a_client = 10000;
  std::string webhook{};
  double alert_stuck = 30;     // minutes
  double alert_failures = 20;  // percent
};

void add_serve(OptionTable& table, ServeCommand& c) {
  table.group("Service");
  table.add("listen", c.listen, "HOST:PORT",
            "address and port; port 0: any free one. Beyond 127.0.0.1 take --tls-cert, or a proxy that encrypts");
  table.add("tls-cert", c.tls_cert, "FILE",
            "serve HTTPS with this certificate, PEM; the server's own first, then its issuers'. With --tls-key");
  table.add("tls-key", c.tls_key, "FILE", "the private key of --tls-cert, PEM, without a passphrase");
  table.add("token-file", c.token_file, "FILE",
            "the tokens that open /v1, one a line; default: STATE/token, which is made where it is missing");
  table.add_list("also-called", c.also_called, "NAMES",
                 "more names that clients may give the model, beside its own and whisper-1; comma-separated");
  table.add(
      "voice", c.voice, "DIR",
      "speak on POST /v1/audio/speech with this voice: OUT/model of 'tutti train tts', or models/voice; default: none");
  table.add("max-upload", c.max_upload, "SIZE", "the largest recording that is taken: bytes, or 500MB, 2GiB");
  table.add("max-hours", c.longest, "HOURS", "the longest recording that is taken, decoded");
  table.add("jobs-per-client", c.jobs_a_client, "N",
            "jobs of one token in /v1/jobs that have not ended; more are refused for a while");
  table.add("allow-root", c.allow_root, "DIR",
            "jobs may name recordings in this folder of the server by their path; default: none");
  table.add_list(
      "url-hosts", c.url_hosts, "HOSTS",
      "hosts in private networks that the URLs of jobs may name; those on the public internet need no naming");
  table.add("drain-seconds", c.drain, "SECONDS",
            "after SIGTERM or Ctrl+C requests in work have so long to end; a second signal ends at once");
  table.add_switch("no-dashboard", c.no_dashboard,
                   "no page at / and nothing under /api; the page shows devices, queue, throughput and history, and "
                   "without a token figures only");
  table.add("alert-webhook", c.webhook, "URL",
            "POST alerts to this address as JSON: jobs that are stuck, and many that fail; default: none");
  table.add("alert-stuck", c.alert_stuck, "MINUTES",
            "alert when a job in work makes no progress for so long, or jobs wait and none is in work");
  table.add("alert-failures", c.alert_failures, "PERCENT",
            "alert when more of the jobs that ended within an hour have failed; of five at least");
  table.add("state", c.state, "DIR",
            "the folder of the store, on a local disk; default: $XDG_STATE_HOME/tutti, else ~/.local/state/tutti");
  table.group("Devices");
  table.add_list("devices", c.devices, "LIST",
                 "auto, cuda:N, GPU-uuid, cpu, cpu:N (core N), or FILE.toml of them; comma-separated; auto: every GPU, "
                 "else the CPU");
  add_speech(table, c.speech);
}

/// "127.0.0.1:8000", "[::1]:8000".
Result<void> set_address(const std::string& text, HttpServerOptions& http) {
  const auto colon = text.rfind(':');
  const auto port =
      colon == std::string::npos || colon == 0 ? std::nullopt : number_in<std::uint16_t>(text.substr(colon + 1));
  if (!port) return fail(Fault::usage, "--listen: expected HOST:PORT, such as 127.0.0.1:8000, found '" + text + "'");
  http.host = text.substr(0, colon);
  if (http.host.starts_with('[') && http.host.ends_with(']')) http.host = http.host.substr(1, http.host.size() - 2);
  http.port = *port;
  return {};
}

Result<void> set_tls(const ServeCommand& c, HttpServerOptions& http) {
  if (c.tls_cert.empty() && c.tls_key.empty()) return {};
  if (c.tls_cert.empty() || c.tls_key.empty())
    return fail(Fault::usage, c.tls_key.empty()
                                  ? "--tls-cert: --tls-key is missing, the file with the certificate's key"
                                  : "--tls-key: --tls-cert is missing, the file with the certificate");
  auto identity = read_tls_identity({.certificate = c.tls_cert, .key = c.tls_key});
  if (!identity) return tl::unexpected<Error>(identity.error());
  http.tls = std::move(*identity);
  return {};
}

Result<void> set_alerts(const ServeCommand& c, AlertOptions& alerts) {
  if (!(c.alert_stuck > 0)) return fail(Fault::usage, "--alert-stuck: expected more than 0 minutes");
  if (!(c.alert_failures >= 0 && c.alert_failures <= 100))
    return fail(Fault::usage, "--alert-failures: expected a percentage from 0 to 100");
  alerts.limits.stuck = Seconds(c.alert_stuck * 60);
  alerts.limits.failures = c.alert_failures / 100;
  alerts.webhook.url = c.webhook;
  if (const ServeCommand usual;
      c.webhook.empty() && (c.alert_stuck != usual.alert_stuck || c.alert_failures != usual.alert_failures))
    log(Level::warning, "--alert-stuck and --alert-failures have no effect without --alert-webhook");
  if (c.webhook.empty() || check_url(c.webhook)) return {};
  return fail(Fault::usage, "--alert-webhook: expected an address that begins with http:// or https://");
}

/// "500MB", "2GiB", "1000000".
Result<std::uint64_t> bytes_of(const std::string& text) {
  auto bytes = parse_bytes(text);
  if (!bytes) bytes = parse_bytes(text + "B");
  if (bytes && bytes->value > 0) return static_cast<std::uint64_t>(bytes->value);
  return fail(Fault::usage, "--max-upload: expected a size such as 500MB or 2GiB, found '" + text + "'");
}

Result<Access> access_of(const ServeCommand& c, const std::filesystem::path& state) {
  if (!c.token_file.empty()) return Access::from_file(c.token_file);
  auto access = Access::from_state(state);
  if (access) log(Level::info, "the token for clients is in " + (state / "token").string());
  return access;
}

/// The model, the devices and how requests are transcribed.
Result<void> set_model(const ServeCommand& c, ServeOptions& options) {
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = c.speech.model_dir;
  const auto model = find_named_model(c.speech.model, folders);
  if (!model) return tl::unexpected(model.error());
  auto run = run_options(c.speech, *model);
  if (!run) return tl::unexpected(run.error());
  if (run->batched)
    return fail(Fault::usage, "--batched: a request is transcribed in the reference's way; requests share the batch",
                "Leave it out; --vad skips what is no speech");
  if (const std::string layout = first_subtitle_flag(c.speech.subtitles); !layout.empty())
    return fail(Fault::usage, layout + ": subtitles of the service have a cue for each segment", "Leave it out");
  const auto listed = parse_device_list(c.devices);
  if (!listed) return tl::unexpected(listed.error());
  auto devices = choose_devices(*listed, find_devices());
  if (!devices) return tl::unexpected(devices.error());
  std::vector<std::string> more;
  for (const auto name : split(c.also_called, ',')) more.emplace_back(trimmed(name));
  options.api.models = ModelNames(c.speech.model, *model, more);
  options.api.usual = *run;
  options.speech.pool.run = std::move(*run);
  options.speech.pool.devices = std::move(*devices);
  return {};
}

Result<void> set_voice(const ServeCommand& c, ServeOptions& options) {
  if (auto engine = engine_command(EngineSettings::of_this_process(), {"say"}); !engine)
    return tl::unexpected(engine.error());
  auto voice = VoiceService::open(c.voice);
  if (!voice) return tl::unexpected(voice.error());
  options.api.voice = std::move(*voice);
  return {};
}

Result<ServeOptions> serve_options(const ServeCommand& c) {
  if (c.speech.model.empty() && c.state.empty() && c.voice.empty())
    return fail(Fault::usage, "no model is named, and none is taken by default: which one fits depends on the audio",
                "Name one with --model or TUTTI_MODEL; 'tutti models' lists what is here. With --state and no model, "
                "the page shows what runs on that store");
  const auto state = c.state.empty() ? state_folder() : c.state;
  auto access = access_of(c, state);
  if (!access) return tl::unexpected(access.error());
  ServeOptions options{.api = {.access = std::move(*access)}, .dashboard = !c.no_dashboard};
  options.speech.pool.state = state;
  if (auto set = set_address(c.listen, options.http); !set) return tl::unexpected(set.error());
  if (auto set = set_tls(c, options.http); !set) return tl::unexpected(set.error());
  if (auto set = set_alerts(c, options.alerts); !set) return tl::unexpected(set.error());
  const auto most = bytes_of(c.max_upload);
  if (!most) return tl::unexpected(most.error());
  options.api.max_upload = *most;
  if (!(c.longest > 0) || !(c.drain >= 0))
    return fail(Fault::usage, "--max-hours: expected more than 0, and --drain-seconds: 0 or more");
  if (c.jobs_a_client < 1) return fail(Fault::usage, "--jobs-per-client: expected 1 or more");
  options.jobs_a_client = static_cast<std::size_t>(c.jobs_a_client);
  options.job_files.allowed = c.allow_root;
  for (const auto host : split(c.url_hosts, ',')) options.job_files.url_hosts.push_back(ascii_lower(trimmed(host)));
  options.speech.longest = Seconds(c.longest * 3600);
  options.drain = Seconds(c.drain);
  if (!c.voice.empty())
    if (auto set = set_voice(c, options); !set) return tl::unexpected(set.error());
  if (!c.speech.model.empty())
    if (auto set = set_model(c, options); !set) return tl::unexpected(set.error());
  return options;
}

}  // namespace

int run_serve(const std::vector<std::string>& arguments) {
  ServeCommand command;
  OptionTable table("serve", "An HTTP service that writes speech down, with the API that OpenAI's clients speak.");
  add_serve(table, command);
  table.examples({"tutti serve --model turbo", "tutti serve --model turbo --voice models/voice",
                  "tutti serve --state ~/.local/state/tutti",
                  "tutti serve --model tiny.en --listen 127.0.0.1:8000 --token-file tokens",
                  ("curl -H \"Authorization: Bearer $(cat ~/.local/state/tutti/token)\" -F model=whisper-1 "
                   "-F file=@talk.mp3 http://127.0.0.1:8000/v1/audio/transcriptions")});
  if (const auto code = start_command(table, arguments)) return *code;
  const auto options = serve_options(command);
  if (!options) return complain(options.error());
  Interrupt interrupt(std::chrono::milliseconds(static_cast<std::int64_t>(command.drain * 1000)));
  const auto served = serve(*options, interrupt, [&](std::uint16_t port) {
    std::printf("listening on %s://%s:%d\n", options->http.tls ? "https" : "http", options->http.host.c_str(),
                static_cast<int>(port));
    std::fflush(stdout);
  });
  if (!served) return complain(served.error(), interrupt);
  return kDone;
}

}  // namespace tutti
