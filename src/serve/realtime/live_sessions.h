#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/units.h"

namespace tutti {

/// Why a client that streams is ended.
enum class LiveEnd : std::uint8_t { server_stops, cancelled };

/// A client that streams live audio, as the end of the server sees it.
class LiveClient {
 public:
  virtual ~LiveClient() = default;
  /// Ends it once the text of what has come is final. From any thread, briefly.
  virtual void finish(LiveEnd why) = 0;
};

/// A live stream in work.
struct LiveStreamStatus {
  std::string id{};      // "live-3": what cancelling takes
  std::string client{};  // whose it is, as request_of_client names it
  Seconds taken{};       // audio that has come
};

/// The clients that stream live audio, and how many may. Thread-safe.
class LiveSessions {
 public:
  explicit LiveSessions(std::size_t most) : most_(most) {}

  /// One client among them, which is counted as long as this exists.
  class Admission {
   public:
    Admission(LiveSessions& all, std::uint64_t number) : all_(all), number_(number) {}
    ~Admission() {
      all_.now_.with([this](Now& now) { now.streams.erase(number_); });
    }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    /// `client` is ended with the others, at once where they are already.
    void enter(LiveClient& client) {
      const bool ends = all_.now_.with([&](Now& now) {
        now.streams.at(number_).client = &client;
        return now.ends;
      });
      if (ends) client.finish(LiveEnd::server_stops);
    }
    /// Its client is there no more.
    void leave() {
      all_.now_.with([this](Now& now) { now.streams.at(number_).client = nullptr; });
    }
    void add_audio(Seconds length) {
      all_.now_.with([&](Now& now) { now.streams.at(number_).taken += length; });
    }

   private:
    LiveSessions& all_;
    const std::uint64_t number_;
  };

  /// Null: there are as many as may be already. `client`: as LiveStreamStatus has it.
  std::shared_ptr<Admission> admit(const std::string& client) {
    const std::uint64_t number = now_.with([&](Now& now) -> std::uint64_t {
      if (now.streams.size() >= most_) return 0;
      now.streams[++now.last] = {.owner = client};
      return now.last;
    });
    return number == 0 ? nullptr : std::make_shared<Admission>(*this, number);
  }
  /// Ends all of them, and those that still come.
  void finish() {
    now_.with([](Now& now) {
      now.ends = true;
      for (auto& [_, stream] : now.streams)
        if (stream.client) stream.client->finish(LiveEnd::server_stops);
    });
  }
  /// Cancels one. False: there is none of that id.
  bool finish(const std::string& id) {
    return now_.with([&](Now& now) {
      for (auto& [number, stream] : now.streams) {
        if (id_of(number) != id || !stream.client) continue;
        stream.client->finish(LiveEnd::cancelled);
        return true;
      }
      return false;
    });
  }

  /// All of them, in the order in which they began.
  std::vector<LiveStreamStatus> status() const {
    return now_.with([](const Now& now) {
      std::vector<LiveStreamStatus> all;
      for (const auto& [number, stream] : now.streams) all.push_back({id_of(number), stream.owner, stream.taken});
      return all;
    });
  }
  std::size_t taken() const {
    return now_.with([](const Now& now) { return now.streams.size(); });
  }
  std::size_t most() const { return most_; }

 private:
  struct Stream {
    std::string owner{};
    Seconds taken{};
    LiveClient* client = nullptr;
  };
  struct Now {
    std::uint64_t last = 0;
    std::map<std::uint64_t, Stream> streams{};
    bool ends = false;
  };
  static std::string id_of(std::uint64_t number) { return "live-" + std::to_string(number); }

  const std::size_t most_;
  Guarded<Now> now_{};
};

}  // namespace tutti
