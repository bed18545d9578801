#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "link/window_engine.h"

namespace tutti {

/// Answers at once and records the requests. Thread-safe during requests.
class ScriptedEngine final : public WindowEngine {
 public:
  Result<Opened> open(const OpenWindow& facts, std::span<const float> mel) override {
    std::lock_guard lock(mutex_);
    if (fails) return fail(Fault::device, "the worker is gone");
    EXPECT_EQ(std::ssize(mel), facts.values());
    opened.push_back(facts.window);
    positions.push_back(facts.positions);
    frames_[facts.window] = facts.frames;
    open_now.insert(facts.window);
    return Opened{.window = facts.window, .encode_seconds = 0.25};
  }
  Result<Language> detect_language(WindowId window) override {
    std::lock_guard lock(mutex_);
    EXPECT_TRUE(open_now.contains(window));
    ++detections;
    return Language{.window = window, .tokens = languages, .probabilities = {0.1F, 0.7F, 0.2F}};
  }
  Result<Decoded> decode(const DecodeWindow& request) override {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(open_now.contains(request.window));
    requests.push_back(request);
    if (!answer)
      return Decoded{
          .window = request.window, .request = request.request, .tokens = {7}, .avg_logprob = -0.5, .steps = 2};
    lock.unlock();
    return answer(request);
  }
  Result<Aligned> align(const AlignWindow& request) override {
    std::lock_guard lock(mutex_);
    EXPECT_TRUE(open_now.contains(request.window));
    alignments.push_back(request);
    return Aligned{.window = request.window,
                   .request = request.request,
                   .starts = {0, 20, 30},
                   .probabilities = {0.5F, 0.25F},
                   .seconds = 0.125};
  }
  void release(WindowId window) override {
    std::lock_guard lock(mutex_);
    open_now.erase(window);
  }

  bool fails = false;
  std::function<Result<Decoded>(const DecodeWindow&)> answer{};  // to decodings; none: one token; called by any thread
  std::vector<std::int32_t> languages;
  std::vector<WindowId> opened;
  std::vector<std::int32_t> positions;  // of each
  std::set<WindowId> open_now;
  std::vector<DecodeWindow> requests;
  std::vector<AlignWindow> alignments;
  std::size_t detections = 0;

  std::int32_t frames_of(WindowId window) {
    std::lock_guard lock(mutex_);
    return frames_.at(window);
  }

 private:
  std::mutex mutex_;
  std::map<WindowId, std::int32_t> frames_;
};

}  // namespace tutti
