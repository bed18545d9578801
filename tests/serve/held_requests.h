#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// Takes requests and never ends them by itself: the test does, or a cancellation.
class HeldRequests final : public SpeechService {
 public:
  struct Request {
    std::shared_ptr<SpeechListener> listener{};
    std::string id{};
    bool ended = false;
  };

  std::shared_ptr<SpeechTicket> submit(SpeechRequest request) override {
    auto held = std::make_shared<Guarded<Request>>();
    held->with([&](Request& own) {
      own.listener = request.listener;
      own.id = request.id;
    });
    requests.with([&](auto& all) { all.push_back(held); });
    return std::make_shared<Ticket>(held, cancels);
  }
  /// Ends the latest request with a result.
  void finish(TranscribedFile file = {}) {
    const auto latest = requests.with([](const auto& all) { return all.back(); });
    if (auto listener = taken(*latest)) listener->done(std::move(file));
  }

  bool ready() const override { return true; }
  Result<void> wait_until_ready() override { return {}; }
  std::optional<Error> over() override { return std::nullopt; }
  Result<std::unique_ptr<LiveStream>> listen(const SpeechOptions&, CaptionListener&) override {
    return fail(Fault::unavailable, "no live audio here");
  }
  SpeechLoad load() const override { return {}; }
  std::size_t bulk_at_once() const override { return 1; }
  ServiceControl& control() override { return control_; }
  bool wait_until_idle(Seconds) override { return true; }
  void stop() override {
    for (const auto& held : requests.with([](const auto& all) { return all; })) Ticket(held, true).cancel();
  }

  Guarded<std::vector<std::shared_ptr<Guarded<Request>>>> requests{};
  std::atomic<bool> cancels = true;  // false: cancellations take their time
  std::atomic<bool> is_drained = false;

 private:
  static std::shared_ptr<SpeechListener> taken(Guarded<Request>& held) {
    return held.with([](Request& own) { return std::exchange(own.ended, true) ? nullptr : own.listener; });
  }

  class Control final : public ServiceControl {
   public:
    explicit Control(HeldRequests& service) : service_(service) {}
    /// Those that have not ended, of which nothing is done.
    FleetStatus status() const override {
      FleetStatus status;
      for (const auto& held : service_.requests.with([](const auto& all) { return all; }))
        held->with([&](const Request& own) {
          if (!own.ended) status.in_work.push_back({.id = own.id, .name = ""});
        });
      return status;
    }
    std::optional<std::string> held() const override {
      return service_.is_drained ? std::optional<std::string>("they are drained") : std::nullopt;
    }
    std::vector<MetricSnapshot> metrics() const override { return {}; }
    bool cancel(const std::string&) override { return false; }
    bool drain(const std::string&) override { return false; }
    bool resume(const std::string&) override { return false; }

   private:
    HeldRequests& service_;
  };

  class Ticket final : public SpeechTicket {
   public:
    Ticket(std::shared_ptr<Guarded<Request>> held, bool cancels) : held_(std::move(held)), cancels_(cancels) {}
    void cancel() override {
      if (!cancels_) return;
      if (auto listener = taken(*held_)) listener->failed({Fault::cancelled, "cancelled"});
    }

   private:
    std::shared_ptr<Guarded<Request>> held_;
    const bool cancels_;
  };

  Control control_{*this};
};

}  // namespace tutti
