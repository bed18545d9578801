#include "metrics/shared_trace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/strings.h"

namespace tutti {
namespace {

constexpr char kBetween = ':';  // the addresses of file and memory

std::string address_of(const OwnedFd& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

/// 0, or errno where not all could be written.
int write_there(int fd, std::string_view bytes, std::int64_t at) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    at += put;
  }
  return 0;
}

}  // namespace

void SharedTrace::Unmap::operator()(State* state) const {
  ::munmap(state, sizeof(State));
}

std::unique_ptr<SharedTrace::State, SharedTrace::Unmap> SharedTrace::map(const OwnedFd& memory) {
  void* at = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  return std::unique_ptr<State, Unmap>(at == MAP_FAILED ? nullptr : static_cast<State*>(at));
}

Result<std::unique_ptr<SharedTrace>> SharedTrace::over(OwnedFd file, std::int64_t size) {
  OwnedFd memory(::memfd_create("tutti-trace", MFD_CLOEXEC));
  if (!memory || ::ftruncate(memory.get(), sizeof(State)) != 0) return fail_errno("the trace", "cannot be shared");
  auto state = map(memory);
  if (!state) return fail_errno("the trace", "cannot be shared");
  pthread_mutexattr_t shared;
  ::pthread_mutexattr_init(&shared);
  ::pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&state->mutex, &shared);
  ::pthread_mutexattr_destroy(&shared);
  state->end = size;
  return std::unique_ptr<SharedTrace>(new SharedTrace(std::move(file), std::move(memory), std::move(state)));
}

std::unique_ptr<SharedTrace> SharedTrace::at(std::string_view address) {
  const auto parts = split(address, kBetween);
  if (parts.size() != 2) return nullptr;
  OwnedFd file(::open(std::string(parts[0]).c_str(), O_WRONLY | O_CLOEXEC));
  OwnedFd memory(::open(std::string(parts[1]).c_str(), O_RDWR | O_CLOEXEC));
  if (!file || !memory) return nullptr;
  auto state = map(memory);
  if (!state) return nullptr;
  return std::unique_ptr<SharedTrace>(new SharedTrace(std::move(file), std::move(memory), std::move(state)));
}

std::string SharedTrace::address() const {
  return address_of(file_) + kBetween + address_of(memory_);
}

/// A process that was killed with the lock has at most written behind `end`.
template <class Fn>
auto SharedTrace::locked(Fn fn) const {
  if (::pthread_mutex_lock(&state_->mutex) == EOWNERDEAD) ::pthread_mutex_consistent(&state_->mutex);
  const auto unlock = [](pthread_mutex_t* mutex) { ::pthread_mutex_unlock(mutex); };
  const std::unique_ptr<pthread_mutex_t, decltype(unlock)> lock(&state_->mutex, unlock);
  return fn(*state_);
}

std::uint32_t SharedTrace::take_process_number() {
  return locked([](State& state) { return ++state.processes; });
}

/// Writes under the lock: whose packets come next is known only when these are there.
void SharedTrace::append(std::string_view packets) {
  if (packets.empty()) return;
  locked([&](State& state) {
    if (state.failure != 0) return;
    state.failure = write_there(file_.get(), packets, state.end);
    if (state.failure == 0) state.end += static_cast<std::int64_t>(packets.size());
  });
}

int SharedTrace::failure() const {
  return locked([](const State& state) { return state.failure; });
}

std::int64_t SharedTrace::size() const {
  return locked([](const State& state) { return state.end; });
}

void SharedTrace::cut() const {
  locked([&](const State& state) { (void)!::ftruncate(file_.get(), state.end); });
}

}  // namespace tutti
