#include "runner/object_writer.h"

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace tutti {
namespace {

constexpr Seconds kEvery{1};
constexpr Seconds kLogEvery{60};

}  // namespace

ObjectWriter::ObjectWriter(CallerPool& callers, std::string bucket)
    : callers_(callers), bucket_(std::move(bucket)), thread_([this] { work(); }) {}

ObjectWriter::~ObjectWriter() {
  state_.change([](State& state) { state.over = true; });
}

void ObjectWriter::put(const std::string& key, std::string content) {
  state_.change([&](State& state) { state.waiting[key] = std::move(content); });
}

void ObjectWriter::work() {
  std::optional<Clock::Instant> logged;
  for (;;) {
    auto [all, over] =
        state_.wait([](const State& state) { return state.over || !state.waiting.empty(); },
                    [](State& state) { return std::pair(std::exchange(state.waiting, {}), state.over); });
    for (const auto& [key, content] : all) {
      const auto put = callers_.with_s3([&](S3Client& s3) {
        return s3.put({bucket_, key}, content, "application/json", PutMode::replace);
      });
      const auto now = Clock::real().now();
      if (put || (logged && now - *logged < kLogEvery)) continue;
      logged = now;
      log(Level::warning, "a status could not be written: " + put.error().text());
    }
    if (over) return;
    state_.wait_for(kEvery, [](const State& state) { return state.over; });
  }
}

}  // namespace tutti
