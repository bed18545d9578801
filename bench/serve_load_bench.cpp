// How long /livez of `tutti serve` takes beside clients that are slow or that only listen: a thousand that send a byte
// of their headers every three seconds, and a thousand streams of events.

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/owned.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

constexpr std::size_t kSlow = 1000;
constexpr std::size_t kStreams = 1000;
constexpr auto kTrickle = std::chrono::seconds(3);
constexpr auto kGone = std::chrono::seconds(11);

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

OwnedFd connect_to(int port) {
  OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("no connection");
  return fd;
}

bool send_text(const OwnedFd& fd, const char* text) {
  return ::send(fd.get(), text, std::strlen(text), MSG_NOSIGNAL) > 0;
}

/// Whether the server has closed it; what came is dropped.
bool is_closed(const OwnedFd& fd) {
  char block[65536];
  for (;;) {
    const auto got = ::recv(fd.get(), block, sizeof block, MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EINTR;
  }
}

/// `tutti serve` over an empty store, on a free port.
class Server {
 public:
  Server() : program_({tutti_program(), "serve", "--state", folder_.path().string(), "--listen", "127.0.0.1:0"}) {
    const std::string mark = "listening on http://127.0.0.1:";
    program_.saw(mark);
    program_.saw("\n");
    port_ = program_.number_behind(mark);
  }
  int port() const { return port_; }

 private:
  TempFolder folder_;
  RunningProgram program_;
  int port_ = 0;
};

/// Sends a byte to every slow client now and then, and reads what the streams get.
class Crowd {
 public:
  explicit Crowd(int port) {
    for (std::size_t i = 0; i < kSlow; ++i) slow_.push_back(connect_to(port));
    for (std::size_t i = 0; i < kStreams; ++i) {
      streams_.push_back(connect_to(port));
      send_text(streams_.back(), "GET /api/events HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    thread_ = std::jthread([this](const std::stop_token& over) { bother(over); });
  }
  std::size_t slow_left() const {
    return static_cast<std::size_t>(std::ranges::count_if(slow_, [](const OwnedFd& fd) { return !is_closed(fd); }));
  }
  std::size_t streams_left() const { return streams_left_; }

 private:
  void bother(const std::stop_token& over) {
    auto next = std::chrono::steady_clock::now();
    while (!over.stop_requested()) {
      if (std::chrono::steady_clock::now() >= next) {
        next += kTrickle;
        for (const auto& fd : slow_) send_text(fd, "G");
      }
      streams_left_ =
          static_cast<std::size_t>(std::ranges::count_if(streams_, [](const OwnedFd& fd) { return !is_closed(fd); }));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }

  std::vector<OwnedFd> slow_{};
  std::vector<OwnedFd> streams_{};
  std::atomic<std::size_t> streams_left_{kStreams};
  std::jthread thread_{};
};

double livez_seconds(int port) {
  const auto begun = std::chrono::steady_clock::now();
  const OwnedFd fd = connect_to(port);
  send_text(fd, "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  char block[1024];
  if (::recv(fd.get(), block, sizeof block, 0) <= 0) throw std::runtime_error("/livez did not answer");
  return seconds_since(begun);
}

void livez_beside_slow_clients(benchmark::State& state) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const Server server;
  const auto begun = std::chrono::steady_clock::now();
  const Crowd crowd(server.port());
  std::vector<double> times;
  for (auto _ : state) times.push_back(livez_seconds(server.port()));
  std::ranges::sort(times);
  state.counters["p50_ms"] = 1e3 * times[times.size() / 2];
  state.counters["p99_ms"] = 1e3 * times[times.size() * 99 / 100];
  std::this_thread::sleep_until(begun + kGone + std::chrono::milliseconds(500));
  state.counters["slow_left_after_11_s"] = static_cast<double>(crowd.slow_left());
  state.counters["streams_left"] = static_cast<double>(crowd.streams_left());
}
BENCHMARK(livez_beside_slow_clients)->Iterations(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
