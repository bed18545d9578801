#include "link/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "link/wire.h"

namespace tutti {
namespace {

constexpr std::string_view kOneBuild = "tutti and tutti-engine must come from one build; install both again";
constexpr std::string_view kOtherEngine =
    "docs/engines.md has this version's messages; the engine must not change in a run";

Reaction ends(Fault fault, std::string what, std::string_view hint = {}, bool final = false) {
  return {.ending = Ending{{fault, std::move(what), std::string(hint)}, final}};
}

/// One name for both, but that CUDA calls a slice of a GPU "GPU-" where NVML calls it "MIG-".
bool is_same_device(std::string_view seen, std::string_view expected) {
  const auto number = [](std::string_view uuid) { return uuid.substr(std::min(uuid.find('-'), uuid.size())); };
  return number(seen) == number(expected);
}

std::string rounded(Seconds time) {
  return std::to_string(std::lround(time.count())) + " s";
}

}  // namespace

bool is_permanent(Fault fault) {
  return fault == Fault::usage || fault == Fault::missing || fault == Fault::corrupt || fault == Fault::unsupported ||
         fault == Fault::refused;
}

Session::Session(SessionTerms terms, Clock::Instant started)
    : terms_(std::move(terms)),
      load_until_(started + std::chrono::duration_cast<Clock::Instant::duration>(terms_.load_limit)) {}

Reaction Session::on_message(ToControl message, Clock::Instant now) {
  if (const auto* hello = std::get_if<Hello>(&message); hello && phase_ == Phase::greeting) return on_hello(*hello);
  if (const auto* ready = std::get_if<Ready>(&message); ready && phase_ == Phase::loading) return loaded(*ready, now);
  if (const auto* failure = std::get_if<Failed>(&message); failure && failure->window == 0) return failed(*failure);
  if (phase_ != Phase::serving) return unexpected(message);
  if (const auto* pong = std::get_if<Pong>(&message))
    return heartbeat_->pong(*pong, now) ? Reaction{} : unexpected(message);
  if (std::holds_alternative<Hello>(message) || std::holds_alternative<Ready>(message)) return unexpected(message);
  return {.worker_answer = std::move(message)};
}

Reaction Session::on_hello(const Hello& hello) {
  const std::string_view hint = terms_.is_other ? kOtherEngine : kOneBuild;
  if (hello.protocol != kProtocolVersion)
    return ends(Fault::unsupported,
                "the worker speaks protocol " + std::to_string(hello.protocol) + ", expected " +
                    std::to_string(kProtocolVersion),
                hint, true);
  if (hello.build_id != terms_.build_id)
    return ends(Fault::unsupported,
                "the worker is of build '" + hello.build_id + "', expected '" + terms_.build_id + "'", hint, true);
  const bool knows_device = !terms_.is_other || !hello.device_uuid.empty();
  if (knows_device && !terms_.device_uuid.empty() && !is_same_device(hello.device_uuid, terms_.device_uuid))
    return ends(Fault::device,
                "the worker sees device '" + hello.device_uuid + "', expected '" + terms_.device_uuid + "'",
                "Check CUDA_VISIBLE_DEVICES and the driver", true);
  phase_ = Phase::loading;
  return {.reply = terms_.model};
}

Reaction Session::loaded(const Ready& ready, Clock::Instant now) {
  ready_ = ready;
  phase_ = Phase::serving;
  heartbeat_.emplace(terms_.heartbeat, now);
  return {.ready = ready};
}

Reaction Session::failed(const Failed& failed) {
  Reaction end = ends(failed.fault, failed.what, {}, phase_ != Phase::serving && is_permanent(failed.fault));
  end.ending->unclear = failed.fault == Fault::device;
  return end;
}

Reaction Session::unexpected(const ToControl& message) const {
  static constexpr std::string_view kAwaited[] = {"Hello", "Ready", "an answer to the request"};
  return ends(Fault::corrupt, "the worker sent " + std::string(name_of(message)) + ", expected " +
                                  std::string(kAwaited[static_cast<std::size_t>(phase_)]));
}

Reaction Session::tick(Clock::Instant now) {
  if (!terms_.timed) return {};
  if (phase_ != Phase::serving) {
    if (now < load_until_) return {};
    return ends(Fault::device, "the worker was not ready within " + rounded(terms_.load_limit));
  }
  if (heartbeat_->silent(now)) {
    Reaction silence =
        ends(Fault::device, "the worker has hung: no sign of life for " + rounded(terms_.heartbeat.silence));
    silence.ending->unclear = true;
    return silence;
  }
  if (auto ping = heartbeat_->due(now)) return {.reply = *ping};
  return {};
}

Clock::Instant Session::wake_at() const {
  if (!terms_.timed) return Clock::Instant::max();
  return phase_ == Phase::serving ? heartbeat_->wake_at() : load_until_;
}

}  // namespace tutti
