#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "model/decoder_step/step_recorder.h"

namespace tutti {

/// Replays by doing the work again, and counts.
struct Repeater : StepRecorder {
  struct Recording : StepRecording {
    Recording(std::function<void()> recorded, int& counter) : work(std::move(recorded)), replays(counter) {}
    void replay() override { ++replays, work(); }
    std::function<void()> work;
    int& replays;
  };
  std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
    if (fails) fails();
    ++records;
    work();
    return std::make_unique<Recording>(work, replays);
  }
  std::function<void()> fails{};
  int records = 0, replays = 0;
};

/// The lines that are logged meanwhile.
struct Lines {
  Lines() {
    before = set_log_sink([this](Level, std::string_view line) { all.emplace_back(line); });
  }
  ~Lines() { set_log_sink(before); }
  std::vector<std::string> all{};
  LogSink before{};
};

}  // namespace tutti
