#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "transcribe/pool/device_pool.h"

namespace tutti {

/// Records its jobs, the number of engines, how many were closed and why jobs are held back, and shows the view that it
/// is given.
class CountingPool final : public DevicePool {
 public:
  class Engine final : public JobEngine {
   public:
    explicit Engine(CountingPool& pool) : pool_(pool) { ++pool_.engines; }
    ~Engine() override { --pool_.engines; }
    Result<Opened> open(const OpenWindow&, std::span<const float>) override { return Opened{}; }
    Result<Language> detect_language(WindowId) override { return Language{}; }
    Result<Decoded> decode(const DecodeWindow&) override { return Decoded{}; }
    Result<Aligned> align(const AlignWindow&) override { return Aligned{}; }
    void release(WindowId) override {}
    Use use() const override { return pool_.use; }
    std::string where() const override { return {}; }
    void when_granted(std::function<void()> fn) override { pool_.when_granted = std::move(fn); }
    void cancel() override { ++pool_.cancelled; }

   private:
    CountingPool& pool_;
  };

  Result<Ready> ready() override { return Ready{}; }
  void add_job(const PoolJob& job) override { added.push_back(job); }
  void end_job(std::uint64_t) override {}
  std::unique_ptr<JobEngine> engine(const PoolJob&) override { return std::make_unique<Engine>(*this); }
  PoolView view() override { return shown; }
  bool drain(const std::string&) override { return false; }
  bool resume(const std::string&) override { return false; }
  void report_driver_state(const std::string&, const std::optional<DeviceFault>&) override {}
  void others_use(const std::string&, Bytes) override {}
  void report_load(const std::string&, const DeviceLoad&) override {}
  void host_short(const std::optional<std::string>&) override {}
  void held_back(std::optional<Idle> why) override { why_held_back = why; }
  std::vector<PoolEvent> news() override { return {}; }
  std::vector<FirstGrant> first_grants() override { return std::exchange(granted, {}); }
  std::optional<Error> over() override { return ended; }
  void stop(Seconds) override { stopped = true; }

  /// Waits for it.
  bool is_reported(std::optional<Idle> why) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (why_held_back.load() != why && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return why_held_back.load() == why;
  }

  std::atomic<std::optional<Idle>> why_held_back{};
  std::vector<PoolJob> added{};
  PoolView shown{};
  std::vector<FirstGrant> granted{};     // to be fetched
  std::function<void()> when_granted{};  // of the latest engine
  JobEngine::Use use{};                  // what every job used
  int engines = 0;
  int cancelled = 0;
  std::optional<Error> ended{};
  bool stopped = false;
};

}  // namespace tutti
