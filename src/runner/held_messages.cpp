#include "runner/held_messages.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLongestHeld{43'200};  // SQS: from a receive, however often it is renewed

void log_failed(const char* what, const Error& error) {
  log(Level::warning, std::string(what) + ": " + error.text());
}

}  // namespace

HeldMessages::Token HeldMessages::hold(const ReceivedMessage& message) {
  const auto now = Clock::real().now();
  const Token token = ++next_;
  held_.with([&](All& all) {
    all[token] = {.message = message,
                  .received = now,
                  .hidden_until = now + std::chrono::seconds(visibility_seconds_),
                  .lost = {}};
  });
  return token;
}

void HeldMessages::when_lost(Token token, std::function<void()> lost) {
  const bool is_held = held_.with([&](All& all) {
    const auto found = all.find(token);
    if (found != all.end()) found->second.lost = lost;
    return found != all.end();
  });
  if (!is_held) lost();
}

std::optional<HeldMessages::Held> HeldMessages::take(Token token) {
  return held_.with([&](All& all) -> std::optional<Held> {
    auto node = all.extract(token);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  });
}

Result<bool> HeldMessages::renew(Token token, const Held& held) {
  const auto now = Clock::real().now();
  if (held.has_ended(now)) return false;
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(held.received + kLongestHeld - now).count() - 1;
  const std::int64_t seconds = std::min<std::int64_t>(visibility_seconds_, left);
  if (seconds <= 0) return true;  // it goes on, and who puts its result first has done it
  auto renewed =
      callers_.with_sqs([&](SqsClient& sqs) { return sqs.set_visibility(queue_, held.message.receipt, seconds); });
  if (!renewed || !*renewed) return renewed;
  if (held.has_ended(Clock::real().now())) return false;  // it may have come too late
  held_.with([&](All& all) {
    if (const auto found = all.find(token); found != all.end())
      found->second.hidden_until = now + std::chrono::seconds(seconds);
  });
  return true;
}

void HeldMessages::lose(Token token) {
  const auto held = take(token);
  if (!held) return;
  log(Level::warning, "message " + held->message.id + ": its visibility ended, and another worker may have it now");
  if (held->lost) held->lost();
}

void HeldMessages::renew() {
  const auto all = held_.with([](const All& held) { return held; });
  std::optional<Error> failed;
  for (const auto& [token, held] : all) {
    const auto renewed = renew(token, held);
    if (!renewed)
      failed = renewed.error();
    else if (!*renewed)
      lose(token);
  }
  if (failed) log_failed("messages could not be renewed", *failed);
}

bool HeldMessages::is_ours(Token token) {
  const auto held = held_.with([&](const All& all) -> std::optional<Held> {
    const auto found = all.find(token);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  if (!held) return false;
  if (!held->has_ended(Clock::real().now())) return true;
  lose(token);
  return false;
}

void HeldMessages::done(Token token) {
  const auto held = take(token);
  if (!held) return;
  const auto removed = callers_.with_sqs([&](SqsClient& sqs) { return sqs.remove(queue_, held->message.receipt); });
  // It comes again, and its result is found then.
  if (!removed) log_failed("a message whose result is there could not be deleted", removed.error());
}

void HeldMessages::end_with_visibility(Token token, Seconds wait) {
  const auto held = take(token);
  if (!held || held->has_ended(Clock::real().now())) return;
  const auto left = std::chrono::duration_cast<Seconds>(held->received + kLongestHeld - Clock::real().now());
  const auto seconds = static_cast<std::int64_t>(std::clamp(wait, Seconds(0), std::max(Seconds(0), left)).count());
  const auto set =
      callers_.with_sqs([&](SqsClient& sqs) { return sqs.set_visibility(queue_, held->message.receipt, seconds); });
  if (!set) log_failed("a message could not be released before its visibility ends", set.error());
}

void HeldMessages::bury(Token token, const std::map<std::string, std::string>& attributes) {
  const auto held = take(token);
  if (!held || held->has_ended(Clock::real().now())) return;
  const auto sent =
      callers_.with_sqs([&](SqsClient& sqs) { return sqs.send(dead_letters_, held->message.body, attributes); });
  if (!sent) return log_failed("a message could not be put into the dead letters, and comes again", sent.error());
  const auto removed = callers_.with_sqs([&](SqsClient& sqs) { return sqs.remove(queue_, held->message.receipt); });
  if (!removed) log_failed("a message that is in the dead letters could not be deleted", removed.error());
}

void HeldMessages::release_all() {
  std::vector<Token> tokens;
  held_.with([&](const All& all) {
    for (const auto& [token, held] : all) tokens.push_back(token);
  });
  for (const Token token : tokens) release(token);
}

}  // namespace tutti
