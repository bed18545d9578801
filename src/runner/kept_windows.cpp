#include "runner/kept_windows.h"

#include <utility>
#include <variant>

#include "base/hex.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "base/try.h"
#include "link/wire.h"

namespace tutti {
namespace {

constexpr Seconds kKeepEvery{10};
constexpr std::size_t kMostNotKept = 16;  // some eight windows, four minutes of audio
constexpr int kRepliesVersion = 1;

/// The numbers of windows and requests are those of one attempt.
template <class Message>
Message without_numbers(Message message) {
  message.window = 0;
  if constexpr (requires { message.request; }) message.request = 0;
  return message;
}

}  // namespace

std::string replies_json(const WindowReplies& replies) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [key, reply] : replies) all[key] = hex_of(reply);
  return json_line(nlohmann::json{{"schema_version", kRepliesVersion}, {"windows", all}});
}

Result<WindowReplies> read_replies(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto version = json.is_object() ? json.value("schema_version", nlohmann::json()) : nlohmann::json();
  const auto windows = json.is_object() ? json.value("windows", nlohmann::json()) : nlohmann::json();
  if (!version.is_number() || version.get<double>() != kRepliesVersion || !windows.is_object())
    return fail(Fault::corrupt, "expected the windows of an earlier attempt, found something else");
  WindowReplies replies;
  for (const auto& [key, reply] : windows.items()) {
    auto bytes = reply.is_string() ? bytes_of_hex(reply.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes || !decode_to_control(*bytes)) return fail(Fault::corrupt, "window " + key + ": it is damaged");
    replies[key] = std::move(*bytes);
  }
  return replies;
}

/// Where an earlier attempt had this window, the engine gets it only if a reply is missing after all.
Result<Opened> KeptWindows::open(const OpenWindow& facts, std::span<const float> mel) {
  Sha256 digest;
  const std::string seed = model_ + "|" + encode_message(ToWorker(without_numbers(facts))) + "|";
  digest.update(std::as_bytes(std::span(seed)));
  digest.update(std::as_bytes(mel));
  Window opened{.digest = digest.hex(), .facts = facts};
  const auto known = known_.lower_bound(opened.digest);
  const bool is_known = known != known_.end() && known->first.starts_with(opened.digest);
  if (is_known) opened.mel.assign(mel.begin(), mel.end());
  state_.with([&](State& state) { state.windows[facts.window] = std::move(opened); });
  if (is_known) return Opened{.window = facts.window};
  return engine_.open(facts, mel);
}

Result<void> KeptWindows::open_now(WindowId window) {
  const Window waiting = state_.with([&](State& state) {
    Window& known = state.windows.at(window);
    return Window{.mel = std::exchange(known.mel, {}), .facts = known.facts};
  });
  if (waiting.mel.empty()) return {};
  TRY(engine_.open(waiting.facts, waiting.mel));
  return {};
}

template <class Reply, class Compute>
Result<Reply> KeptWindows::reply(WindowId window, const std::string& request, Compute compute) {
  const std::string key =
      state_.with([&](const State& state) { return state.windows.at(window).digest; }) + "." + sha256_of(request);
  if (const auto found = known_.find(key); found != known_.end()) {
    const auto message = decode_to_control(found->second);
    if (message && std::holds_alternative<Reply>(*message)) {
      state_.with([](State& state) { ++state.reused; });
      return std::get<Reply>(*message);
    }
  }
  TRY(open_now(window));
  auto computed = compute();
  if (computed) add(key, encode_message(ToControl(without_numbers(*computed))));
  return computed;
}

void KeptWindows::add(const std::string& key, std::string reply) {
  const bool is_due = state_.with([&](State& state) {
    state.fresh[key] = std::move(reply);
    return state.fresh.size() >= kMostNotKept || Clock::real().now() - state.kept_at >= kKeepEvery;
  });
  if (is_due) flush();
}

void KeptWindows::flush() {
  const WindowReplies fresh = state_.with([](State& state) {
    state.kept_at = Clock::real().now();
    return std::exchange(state.fresh, {});
  });
  if (!fresh.empty()) keep_(fresh);
}

Result<Language> KeptWindows::detect_language(WindowId window) {
  auto language = reply<Language>(window, encode_message(ToWorker(DetectLanguage{})),
                                  [&] { return engine_.detect_language(window); });
  if (language) language->window = window;
  return language;
}

Result<Decoded> KeptWindows::decode(const DecodeWindow& request) {
  auto decoded = reply<Decoded>(request.window, encode_message(ToWorker(without_numbers(request))),
                                [&] { return engine_.decode(request); });
  if (decoded) {
    decoded->window = request.window;
    decoded->request = request.request;
  }
  return decoded;
}

Result<Aligned> KeptWindows::align(const AlignWindow& request) {
  auto aligned = reply<Aligned>(request.window, encode_message(ToWorker(without_numbers(request))),
                                [&] { return engine_.align(request); });
  if (aligned) {
    aligned->window = request.window;
    aligned->request = request.request;
  }
  return aligned;
}

Result<Transcribed> KeptWindows::transcribe(const TranscribeWindow& request) {
  auto transcribed = reply<Transcribed>(request.window, encode_message(ToWorker(without_numbers(request))),
                                        [&] { return engine_.transcribe(request); });
  if (transcribed) transcribed->window = request.window;
  return transcribed;
}

void KeptWindows::release(WindowId window) {
  const bool is_open = state_.with([&](State& state) {
    const auto gone = state.windows.extract(window);
    return gone.empty() || gone.mapped().mel.empty();
  });
  if (is_open) engine_.release(window);
}

}  // namespace tutti
