#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/on_idle.h"
#include "cli/transcribe_command.h"
#include "device/emulated_spec.h"
#include "device/list/device_list.h"
#include "device/machine_devices.h"
#include "link/engine_command.h"
#include "net/http.h"
#include "net/url_fetch.h"
#include "serve/server.h"

namespace tutti {
namespace {

struct ServeCommand {
  TranscribeCommand speech{};
  std::string listen = "127.0.0.1:8000";
  std::filesystem::path token_file{};
  std::filesystem::path operator_token_file{};
  std::filesystem::path tls_cert{};
  std::filesystem::path tls_key{};
  std::string also_called{};
  std::string cors_origins{};
  std::string devices = "auto";
  std::filesystem::path state{};
  std::string store{};
  std::filesystem::path voice{};
  std::string max_upload = "2GiB";
  double longest = 12;  // hours
  double drain = 600;
  std::optional<double> idle_timeout{};  // minutes
  std::string on_idle{};
  bool no_dashboard = false;
  int live_streams = 0;
  std::filesystem::path allow_root{};
  std::string url_hosts{};
  int jobs_a_client = 10000;
  double keep_jobs = 0;  // days
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
            "the tokens that open /v1, one a line, or a name and a token; default: STATE/token, which is made where it "
            "is missing");
  table.add(
      "operator-token-file", c.operator_token_file, "FILE",
      "the tokens that steer devices and the work of all clients, in the same form; default: a token that is the only "
      "one does, and of several none");
  table.add_list(
      "cors-origin", c.cors_origins, "ORIGIN",
      "web pages of this origin, such as https://app.example.org, may call the service from a browser; again "
      "for more, *: any; default: none");
  table.add_list("also-called", c.also_called, "NAMES",
                 "more names that clients may give the model, beside its own and whisper-1; comma-separated");
  table.add(
      "voice", c.voice, "DIR",
      "speak on POST /v1/audio/speech with this voice: OUT/model of 'tutti train tts', or models/voice; default: none");
  table.add("max-upload", c.max_upload, "SIZE", "the largest recording that is taken: bytes, or 500MB, 2GiB");
  table.add("max-hours", c.longest, "HOURS", "the longest recording that is taken, decoded");
  table.add("jobs-per-client", c.jobs_a_client, "N",
            "jobs of one token in /v1/jobs that have not ended; more are refused for a while");
  table.add("keep-jobs", c.keep_jobs, "DAYS",
            "jobs are removed with their results so long after their end; 0: when their clients remove them");
  table.add("live-streams", c.live_streams, "N",
            "clients of /v1/realtime that stream live audio at once; one more gets 503; 0: three for each core");
  table.add("allow-root", c.allow_root, "DIR",
            "jobs may name recordings in this folder of the server by their path; default: none");
  table.add_list(
      "url-hosts", c.url_hosts, "HOSTS",
      "hosts in private networks that the URLs of jobs may name; those on the public internet need no naming");
  table.add("drain-seconds", c.drain, "SECONDS",
            "after SIGTERM or Ctrl+C requests in work have so long to end; a second signal ends at once");
  table.add(
      "idle-timeout", c.idle_timeout, "MINUTES",
      "ends, with 0, after so long without a request or a job, counted from the end of the latest one; what looks "
      "at the page or at /readyz does not count; default: never");
  add_on_idle(table, c.on_idle);
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
  add_store(table, c.store);
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

/// "https://app.example.org:8443", as browsers write it.
Result<void> set_origins(const ServeCommand& c, std::vector<std::string>& origins) {
  for (const auto text : split(c.cors_origins, ',')) {
    const std::string origin = ascii_lower(trimmed(text));
    if (origin.empty()) continue;
    if (origin != "*" && (!check_url(origin) || origin_of(origin) != origin))
      return fail(Fault::usage,
                  "--cors-origin: expected scheme, host and port alone, such as https://app.example.org, found '" +
                      origin + "'");
    origins.push_back(origin);
  }
  return {};
}

/// What comes over a network in the clear has tokens in it.
void warn_of_open_address(const HttpServerOptions& http) {
  const bool is_local = http.host.starts_with("127.") || http.host == "::1" || http.host == "localhost";
  if (!is_local && !http.tls)
    log(Level::warning, "--listen " + http.host +
                            ": other machines reach it, and tokens and recordings come in the clear; take --tls-cert, "
                            "or a proxy that encrypts and reaches 127.0.0.1");
}

Result<void> set_tls(const ServeCommand& c, HttpServerOptions& http) {
  if (c.tls_cert.empty() && c.tls_key.empty()) return {};
  if (c.tls_cert.empty() || c.tls_key.empty())
    return fail(Fault::usage, c.tls_key.empty()
                                  ? "--tls-cert: --tls-key is missing, the file with the certificate's key"
                                  : "--tls-key: --tls-cert is missing, the file with the certificate");
  http.tls = TRY(read_tls_identity({.certificate = c.tls_cert, .key = c.tls_key}));
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

Result<void> set_idle(const ServeCommand& c, ServeOptions& options) {
  if (!c.idle_timeout) {
    if (c.on_idle.empty()) return {};
    return fail(Fault::usage, "--on-idle: --idle-timeout is missing, after which it runs");
  }
  if (!(*c.idle_timeout > 0 && *c.idle_timeout <= 1e6))
    return fail(Fault::usage, "--idle-timeout: expected more than 0 minutes, and 1000000 at most, found " +
                                  number_text(*c.idle_timeout));
  if (c.speech.model.empty() && c.voice.empty())
    return fail(Fault::usage, "--idle-timeout: without --model or --voice the server has no work to wait for",
                "Leave it out");
  options.idle_timeout = Seconds(*c.idle_timeout * 60);
  return {};
}

/// "500MB", "2GiB", "1000000".
Result<std::uint64_t> bytes_of(const std::string& text) {
  auto bytes = parse_bytes(text);
  if (!bytes) bytes = parse_bytes(text + "B");
  if (bytes && bytes->value > 0) return static_cast<std::uint64_t>(bytes->value);
  return fail(Fault::usage, "--max-upload: expected a size such as 500MB or 2GiB, found '" + text + "'");
}

Result<Access> access_of(const ServeCommand& c, const std::filesystem::path& state) {
  auto access = c.token_file.empty() ? Access::from_state(state) : Access::from_file(c.token_file);
  if (access && c.token_file.empty()) log(Level::info, "the token for clients is in " + (state / "token").string());
  if (access && !c.operator_token_file.empty()) TRY(access->add_operators(c.operator_token_file));
  return access;
}

/// The model, the devices and how requests are transcribed.
Result<void> set_model(const ServeCommand& c, ServeOptions& options) {
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = c.speech.model_dir;
  const auto model = TRY(find_named_model(c.speech.model, folders));
  auto run = TRY(run_options(c.speech, model));
  if (run.batched)
    return fail(Fault::usage, "--batched: a request is transcribed in the reference's way; requests share the batch",
                "Leave it out; --vad skips what is no speech");
  if (const std::string layout = first_subtitle_flag(c.speech.subtitles); !layout.empty())
    return fail(Fault::usage, layout + ": subtitles of the service have a cue for each segment", "Leave it out");
  if (c.speech.paragraphs)
    return fail(Fault::usage, "--paragraphs: texts of the service are one line, as OpenAI's", "Leave it out");
  const auto listed = TRY(parse_device_list(c.devices));
  auto devices = TRY(choose_devices(listed, find_devices()));
  std::vector<std::string> more;
  for (const auto name : split(c.also_called, ',')) more.emplace_back(trimmed(name));
  for (const char* openai : {"gpt-4o-transcribe", "gpt-4o-mini-transcribe"}) more.emplace_back(openai);
  options.api.models = ModelNames(c.speech.model, model, more);
  options.api.usual = run;
  options.speech.pool.run = std::move(run);
  options.speech.pool.devices = std::move(devices);
  return {};
}

Result<void> set_voice(const ServeCommand& c, ServeOptions& options) {
  TRY(engine_command(EngineSettings::of_this_process(), {"say"}));
  auto voice = TRY(VoiceService::open(c.voice));
  options.api.voice = std::move(voice);
  return {};
}

Result<ServeOptions> serve_options(const ServeCommand& c) {
  if (!c.speech.model.empty() && !c.store.empty())
    return fail(Fault::usage, "--store: a service keeps the jobs of its clients on its own machine",
                "Leave out --model to see what runs on that store, or --store to transcribe");
  if (c.speech.model.empty() && c.state.empty() && c.store.empty() && c.voice.empty())
    return fail(Fault::usage, "no model is named, and none is taken by default: which one fits depends on the audio",
                "Name one with --model or TUTTI_MODEL; 'tutti models' lists what is here. With --state or --store and "
                "no model, "
                "the page shows what runs on that store");
  const auto named = TRY(store_named(c.state, c.store));
  const auto& state = named.folder;
  auto access = TRY(access_of(c, state));
  ServeOptions options{.api = {.access = std::move(access)}, .dashboard = !c.no_dashboard};
  options.speech.state = state;
  if (named.store.is_server()) options.server = named.store;
  TRY(set_address(c.listen, options.http));
  TRY(set_tls(c, options.http));
  TRY(set_origins(c, options.api.origins));
  warn_of_open_address(options.http);
  TRY(set_alerts(c, options.alerts));
  options.api.max_upload = TRY(bytes_of(c.max_upload));
  if (!(c.longest > 0) || !(c.drain >= 0))
    return fail(Fault::usage, "--max-hours: expected more than 0, and --drain-seconds: 0 or more");
  if (c.jobs_a_client < 1) return fail(Fault::usage, "--jobs-per-client: expected 1 or more");
  if (c.live_streams < 0) return fail(Fault::usage, "--live-streams: expected 0 or more");
  options.most_live = c.live_streams;
  options.jobs_a_client = static_cast<std::size_t>(c.jobs_a_client);
  if (!(c.keep_jobs >= 0)) return fail(Fault::usage, "--keep-jobs: expected 0 days or more");
  constexpr double kDay = 24 * 3600;
  if (c.keep_jobs > 0) options.keep_jobs = Seconds(c.keep_jobs * kDay);
  options.job_files.allowed = c.allow_root;
  for (const auto host : split(c.url_hosts, ',')) options.job_files.url_hosts.push_back(ascii_lower(trimmed(host)));
  options.speech.longest = Seconds(c.longest * 3600);
  options.drain = Seconds(c.drain);
  TRY(set_idle(c, options));
  if (!c.voice.empty()) TRY(set_voice(c, options));
  if (!c.speech.model.empty()) TRY(set_model(c, options));
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
    const std::string& host = options->http.host;
    const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
    std::printf("listening on %s://%s:%d\n", options->http.tls ? "https" : "http", shown.c_str(),
                static_cast<int>(port));
    std::fflush(stdout);
  });
  if (!served) return complain(served.error(), interrupt);
  if (*served == ServeEnd::idle) run_on_idle(command.on_idle);
  return kDone;
}

}  // namespace tutti
